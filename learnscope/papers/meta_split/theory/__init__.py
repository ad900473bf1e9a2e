r"""Why meta-learning splits its data (Zuo, Chen, Yao, Cao, Gu 2023).

Data is `TaskFamily`, the network `PatchCNN` with the huberised ReLU and two classes, the rule
`Fomaml` or `Pooled` (J = 0). Their Theorems 4.4 and 4.5: under Conditions 4.1 to 4.3 the training
loss vanishes with and without a split; the test loss stays at a constant without one, and is
$O(\exp(-K^c))$ with one.

Linearised at the start ($\ell' = -1/2$, pre-activations between 0 and h), filters of sign j see

$$\text{inside: } \langle w, \nu_k \rangle \times
\left(1 + \tfrac{a \gamma \|\nu_k\|^2}{4 h}\right), \quad
\langle w, \xi_{k,i} \rangle \times \left(1 + \tfrac{a \gamma \|\xi\|^2}{2 h n_{in}}\right)$$

a step, if $\xi_{k,i}$ is adapted to (half of a task's examples have the filter's sign, so that the
feature gets 1/4 where its own example gives noise 1/2), and outside per unit of $\eta$

$$\text{feature: } \tfrac{a \|\nu\|^2}{4 h} A_\nu, \qquad \text{noise: } \tfrac{a \|\xi\|^2}{2 h K
n_{out}} A_\xi$$

with $A_\nu, A_\xi$ the inner factors to the power J ($A_\xi = 1$ for noise that is held back).

| symbol | argument |
|---|---|
| $d, M, K, n, n_2$ | `data.dim`, `dictionary`, `tasks`, `samples`, `validation` |
| $\|\nu\|, \sigma_s \sqrt d, \sigma_\xi$ | `data.signal`, `task_signal`, `noise` |
| $m, \sigma_0, h, a$ | `net.width`, `scale`, `threshold`, `second_layer` |
| $\eta, \gamma, J, T$ | `rule.rate`, `inner_rate`, `inner_steps`, `steps` |
| powers of log(d) that polylog stands for | `power` |
"""

from learnscope.papers.meta_split.theory.conditions import SCOPE, applies, conditions
from learnscope.papers.meta_split.theory.predictions import boundary, predict
from learnscope.papers.meta_split.theory.rates import Rates, rates

__all__ = ["SCOPE", "Rates", "applies", "boundary", "conditions", "predict", "rates"]
