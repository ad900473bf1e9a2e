r"""Benign overfitting by features or by the noise of one's own class (Xu and Chen 2025).

Data is `ClassNoise` or `MatrixNoise`, patches $u_y$ and $\xi = A_y \zeta$; the network `PatchCNN`
with ReLU, the second layer 1/m and one output per class; the rule full-batch gradient descent on
the cross-entropy. Their Theorem 1, under Condition 1, for class k against the others:

$$\text{2a: } \frac{|S_k|^2 \|u_k\|^4}{|S_j| \|A_k^T A_j\|_F^2} \ge C_1
\Rightarrow L_{D_k} \le \sum_{j \ne k} e^{-c_1 \cdot \text{this}}, \qquad
\text{2b: } \Gamma_{k,j} = \frac{|S_k| \|A_k^T A_k\|_F^2}{|S_j| \|A_k^T A_j\|_F^2} \ge C_2
\Rightarrow L_{T_k} \le \sum_{j \ne k} e^{-c_2 L^2 \Gamma_{k,j}},$$

each for the worst j, where $L_{T_k}$ counts L-long-tailed data only. If neither exceeds $C_3$, the
error is at least a constant (statement 3); between the constants nothing is said.

| symbol | argument |
|---|---|
| $d, K, \lvert S_k\rvert$ | `data.dim`, `classes`, `train_per_class` |
| $\|u_k\|, \Gamma, b, \mathcal{D}_\zeta$ | `data.signal`, `correlation`, `bulk`, `noise` |
| $m, \sigma_0$ | `net.width`, `scale` |
| $\eta, T$ | `rule.rate`, `steps` |
| $C, \delta$ | `constant`, `delta` |
| $C_1 = C_2, C_3$ | `high`, `low` |

For `ClassNoise`, $\|A_k^T A_j\|_F = b^2 (\sqrt{p (\Gamma - 1) + R} + \sqrt{p (\Gamma - 1)})$, with
$R = d - K$ and p spikes in a `block`.
"""

from learnscope.papers.benign.theory.condition_1 import SCOPE, applies, conditions
from learnscope.papers.benign.theory.predictions import boundary, predict
from learnscope.papers.benign.theory.regimes import exponents, regime

__all__ = ["SCOPE", "applies", "boundary", "conditions", "exponents", "predict", "regime"]
