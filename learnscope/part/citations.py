"""What to cite: the papers behind the parts, as BibTeX."""

PAPERS: dict[str, str] = {
    "meng2023pegr": """@article{meng2023pegr,
  title = {Per-Example Gradient Regularization Improves Learning Signals from Noisy Data},
  author = {Meng, Xuran and Cao, Yuan and Zou, Difan},
  journal = {arXiv preprint arXiv:2303.17940},
  year = {2023}
}""",
    "meng2023xor": """@inproceedings{meng2023xor,
  title = {Benign Overfitting in Two-Layer {ReLU} Convolutional Neural Networks for {XOR} Data},
  author = {Meng, Xuran and Zou, Difan and Cao, Yuan},
  booktitle = {International Conference on Machine Learning},
  year = {2024},
  note = {arXiv:2310.01975, 2023}
}""",
    "cao2022benign": """@inproceedings{cao2022benign,
  title = {Benign Overfitting in Two-layer Convolutional Neural Networks},
  author = {Cao, Yuan and Chen, Zixiang and Belkin, Mikhail and Gu, Quanquan},
  booktitle = {Advances in Neural Information Processing Systems},
  year = {2022}
}""",
    "kou2023benign": """@inproceedings{kou2023benign,
  title = {Benign Overfitting in Two-layer ReLU Convolutional Neural Networks},
  author = {Kou, Yiwen and Chen, Zixiang and Chen, Yuanzhou and Gu, Quanquan},
  booktitle = {International Conference on Machine Learning},
  year = {2023}
}""",
    "xu2025benign": """@misc{xu2025benign,
  title = {Rethinking Benign Overfitting in Two-Layer Neural Networks},
  author = {Xu, Ruichen and Chen, Kexin},
  year = {2025}
}""",
    "shi2022theoretical": """@inproceedings{shi2022theoretical,
  title = {A Theoretical Analysis on Feature Learning in Neural Networks: Emergence from Inputs and
           Advantage over Fixed Features},
  author = {Shi, Zhenmei and Wei, Junyi and Liang, Yingyu},
  booktitle = {International Conference on Learning Representations},
  year = {2022}
}""",
    "wen2022mechanism": """@inproceedings{wen2022mechanism,
  title = {The Mechanism of Prediction Head in Non-contrastive Self-supervised Learning},
  author = {Wen, Zixin and Li, Yuanzhi},
  booktitle = {Advances in Neural Information Processing Systems},
  year = {2022}
}""",
    "menon2021logit": """@inproceedings{menon2021logit,
  title = {Long-tail learning via logit adjustment},
  author = {Menon, Aditya Krishna and Jayasumana, Sadeep and Rawat, Ankit Singh and Jain, Himanshu
            and Veit, Andreas and Kumar, Sanjiv},
  booktitle = {International Conference on Learning Representations},
  year = {2021}
}""",
    "barrett2021implicit": """@inproceedings{barrett2021implicit,
  title = {Implicit Gradient Regularization},
  author = {Barrett, David G. T. and Dherin, Benoit},
  booktitle = {International Conference on Learning Representations},
  year = {2021}
}""",
    "smith2021origin": """@inproceedings{smith2021origin,
  title = {On the Origin of Implicit Regularization in Stochastic Gradient Descent},
  author = {Smith, Samuel L. and Dherin, Benoit and Barrett, David and De, Soham},
  booktitle = {International Conference on Learning Representations},
  year = {2021}
}""",
    "zuo2023split": """@inproceedings{zuo2023split,
  title = {Understanding Train-Validation Split in Meta-Learning with Neural Networks},
  author = {Zuo, Xinzhe and Chen, Zixiang and Yao, Huaxiu and Cao, Yuan and Gu, Quanquan},
  booktitle = {International Conference on Learning Representations},
  year = {2023}
}""",
    "finn2017maml": """@inproceedings{finn2017maml,
  title = {Model-Agnostic Meta-Learning for Fast Adaptation of Deep Networks},
  author = {Finn, Chelsea and Abbeel, Pieter and Levine, Sergey},
  booktitle = {International Conference on Machine Learning},
  year = {2017}
}""",
    "nichol2018reptile": """@article{nichol2018reptile,
  title = {On First-Order Meta-Learning Algorithms},
  author = {Nichol, Alex and Achiam, Joshua and Schulman, John},
  journal = {arXiv preprint arXiv:1803.02999},
  year = {2018}
}""",
    "zhou2019prox": """@inproceedings{zhou2019prox,
  title = {Efficient Meta Learning via Minibatch Proximal Update},
  author = {Zhou, Pan and Yuan, Xiaotong and Xu, Huan and Yan, Shuicheng and Feng, Jiashi},
  booktitle = {Advances in Neural Information Processing Systems},
  year = {2019}
}""",
    "rajeswaran2019imaml": """@inproceedings{rajeswaran2019imaml,
  title = {Meta-Learning with Implicit Gradients},
  author = {Rajeswaran, Aravind and Finn, Chelsea and Kakade, Sham and Levine, Sergey},
  booktitle = {Advances in Neural Information Processing Systems},
  year = {2019}
}""",
    "bai2021split": """@inproceedings{bai2021split,
  title = {How Important is the Train-Validation Split in Meta-Learning?},
  author = {Bai, Yu and Chen, Minshuo and Zhou, Pan and Zhao, Tuo and Lee, Jason and Kakade, Sham
            and Wang, Huan and Xiong, Caiming},
  booktitle = {International Conference on Machine Learning},
  year = {2021}
}""",
}
