"""Real images: loaders, data models, augmentation, few-shot tasks, influence."""

from learnscope.images.augment import AbstractAugment, Augment
from learnscope.images.images import Images
from learnscope.images.influence import influence_scores
from learnscope.images.loading import load_few_shot, load_images
from learnscope.images.pruned import Pruned
from learnscope.images.random_labels import RandomLabels
from learnscope.images.stream import Stream, stream
from learnscope.images.tasks import ImageTasks
from learnscope.images.teacher_mixture import TeacherMixture
from learnscope.space.image_shape import square_images

__all__ = [
    "AbstractAugment", "Augment", "ImageTasks", "Images", "Pruned", "RandomLabels", "Stream",
    "TeacherMixture", "influence_scores", "load_few_shot", "load_images", "square_images", "stream",
]  # fmt: skip
