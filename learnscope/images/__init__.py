"""Real images: loaders, data models, augmentation, few-shot tasks, influence."""

from learnscope.images.augment import AbstractAugment, Augment
from learnscope.images.images import Images
from learnscope.images.influence import influence_scores
from learnscope.images.loading import ImageInfo, image_info, image_shape, load_few_shot, load_images
from learnscope.images.pruned import Pruned
from learnscope.images.rainbow import rainbow_mnist
from learnscope.images.random_labels import RandomLabels
from learnscope.images.stream import Stream, stream
from learnscope.images.tasks import ImageTasks
from learnscope.images.teacher_mixture import TeacherMixture
from learnscope.space.image_shape import square_images

__all__ = [
    "AbstractAugment", "Augment", "ImageInfo", "ImageTasks", "Images", "Pruned", "RandomLabels",
    "Stream", "TeacherMixture", "image_info", "image_shape", "influence_scores", "load_few_shot",
    "load_images", "rainbow_mnist", "square_images", "stream",
]  # fmt: skip
