//! The weights of the default ranking, as `pith eval train-summaries --out` wrote them.

use super::Weights;

pub(super) const FITTED: Weights =
    Weights { length: [0.5, 1.0], first: 0.3, title: 0.4, new: 0.2, density: 1.3, repeated: [0.25, 0.2] };
