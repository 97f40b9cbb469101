"""Private learning: methods with proofs, behind scikit-learn's faces."""

from ._catalogue import LEARNERS as LEARNERS
from ._estimators import load_model as load_model
from ._estimators.additive import PrivateAdditiveClassifier as PrivateAdditiveClassifier
from ._estimators.additive import PrivateAdditiveRegressor as PrivateAdditiveRegressor
from ._estimators.classifiers import PrivateLinearSVC as PrivateLinearSVC
from ._estimators.classifiers import PrivateLogisticRegression as PrivateLogisticRegression
from ._estimators.pipeline import pipeline_release as pipeline_release
from ._estimators.recommend import recommend as recommend
from ._estimators.regressors import PrivateHuberRegression as PrivateHuberRegression
from ._estimators.regressors import PrivateLasso as PrivateLasso
from ._estimators.regressors import PrivateLinearRegression as PrivateLinearRegression
from ._estimators.regressors import PrivateRidge as PrivateRidge
from ._problem import Problem as Problem
from ._steps.pca import PrivatePCA as PrivatePCA
from ._steps.projection import RandomProjection as RandomProjection
from ._steps.scaler import PrivateScaler as PrivateScaler
from ._tuning.search import PrivateSearch as PrivateSearch
from .methods.method import Learner as Learner
