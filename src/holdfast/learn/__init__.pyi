"""Private learning: methods with proofs, behind scikit-learn's faces."""

from .estimators import load_model as load_model
from .estimators.additive import PrivateAdditiveClassifier as PrivateAdditiveClassifier
from .estimators.additive import PrivateAdditiveRegressor as PrivateAdditiveRegressor
from .estimators.classifiers import PrivateLinearSVC as PrivateLinearSVC
from .estimators.classifiers import PrivateLogisticRegression as PrivateLogisticRegression
from .estimators.pipeline import pipeline_release as pipeline_release
from .estimators.recommend import recommend as recommend
from .estimators.regressors import PrivateHuberRegression as PrivateHuberRegression
from .estimators.regressors import PrivateLasso as PrivateLasso
from .estimators.regressors import PrivateLinearRegression as PrivateLinearRegression
from .estimators.regressors import PrivateRidge as PrivateRidge
from .methods import METHODS as METHODS
from .methods.method import Learner as Learner
from .problem import Problem as Problem
from .steps.pca import PrivatePCA as PrivatePCA
from .steps.projection import RandomProjection as RandomProjection
from .steps.scaler import PrivateScaler as PrivateScaler
from .tuning.search import PrivateSearch as PrivateSearch
