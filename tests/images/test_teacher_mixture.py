"""Mixtures that a teacher labels: parts, labels, the regulariser, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import learnscope as ls
from learnscope.images.teacher_mixture import balance, class_scores, fitted
from learnscope.part.plain import part, plain
from tests.small import refused, refuses

KEY = jax.random.key(0)
IMAGES = ls.data.Images("digits", train=200, test=50, pixels="standard")
TEACHER = ls.nets.FullyConnected(width=4)
MODEL = ls.data.TeacherMixture(IMAGES, TEACHER, teacher_rate=0.01, teacher_steps=200)
sample = jax.jit(lambda share: MODEL.replace("share", share).sample(KEY))


@pytest.fixture(scope="module")
def drawn():
    return sample(0.25)


@pytest.fixture(scope="module")
def images():
    return jax.jit(IMAGES.sample)(jax.random.split(KEY, 3)[0])


def test_parts_are_as_large_as_asked_images_are_the_images_and_others_have_their_moments(
    drawn, images
):
    other = np.asarray(drawn.train.marks["other"])
    assert other.sum() == 50
    np.testing.assert_array_equal(drawn.train.x[~other], images.train.x[~other])
    np.testing.assert_array_equal(drawn.train.marks["truth"][~other], images.train.y[~other])
    assert (np.asarray(drawn.train.marks["truth"])[other] == -1).all()
    assert np.asarray(drawn.test.marks["other"]).tolist() == [False] * 50 + [True] * 50
    rows = np.asarray(drawn.test.x)[50:]
    assert rows.mean() == pytest.approx(float(images.train.x.mean()), abs=5 / rows.size**0.5)
    assert rows.std() == pytest.approx(float(images.train.x.std()), rel=0.05)


def test_the_teacher_has_learnt_and_its_labels_are_balanced(drawn):
    truth, label = (np.asarray(v)[:50] for v in (drawn.test.marks["truth"], drawn.test.y))
    assert (truth == label).mean() > 0.4  # guessing: 0.1
    assert np.bincount(np.asarray(drawn.test.y)[50:], minlength=10).max() <= 15
    # One teacher whatever the share, so that students are compared on one labelling.
    np.testing.assert_array_equal(sample(0.75).test.y, drawn.test.y)


@pytest.mark.slow
def test_two_classes_have_signs():
    images = ls.data.Images("digits", train=60, test=20, classes=(0, 1), pixels="standard")
    teacher = ls.nets.FullyConnected(width=2, classes=2)
    model = ls.data.TeacherMixture(images, teacher, teacher_steps=100, teacher_rate=0.01)
    problem = jax.jit(model.sample)(KEY)
    assert set(np.asarray(problem.train.y).tolist()) <= {-1.0, 1.0}
    assert set(np.asarray(problem.test.marks["truth"])[20:].tolist()) == {0.0}
    assert float((problem.test.y[:20] == problem.test.marks["truth"][:20]).mean()) > 0.9


def test_balance_is_the_formula():
    scores = np.random.default_rng(0).normal(size=(7, 3))
    f = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    first = (f.mean(0) * np.log(f.mean(0))).sum()
    second = -(f * np.log(f)).sum() / 7
    assert float(balance(jnp.asarray(scores), 0.3)) == pytest.approx(first + 0.3 * second, rel=1e-5)
    two = jnp.asarray([0.7, -2.0])
    found = jax.nn.softmax(class_scores(two))[:, 1]
    np.testing.assert_allclose(found, jax.nn.sigmoid(two), rtol=1e-6)


def test_images_of_other_shapes_are_fitted():
    picture = jnp.arange(16.0).reshape(1, 16)
    assert fitted(picture, (4, 4, 1), (2, 2, 1)).tolist() == [[5, 6, 9, 10]]
    larger = fitted(picture, (4, 4, 1), (6, 6, 1)).reshape(6, 6)
    assert larger[1:-1, 1:-1].tolist() == picture.reshape(4, 4).tolist()
    assert larger[0].tolist() == [0, 0, 1, 2, 3, 3]
    assert (fitted(picture, (4, 4, 1), (4, 4, 3)).reshape(16, 3) == picture.reshape(16, 1)).all()


def test_what_is_refused():
    usual = {"images": IMAGES, "teacher": TEACHER}
    make = lambda **given: ls.data.TeacherMixture(**usual | given)  # noqa: E731
    refuses(make, {
        "TeacherMixture.images = 'digits' is not allowed": {"images": "digits"},
        "TeacherMixture.other = 3 is not allowed": {"other": 3},
        ".*teacher = None .*must be one of .*ResNet": {"teacher": None},
        ".*teacher = Gradient.* must be one of": {"teacher": ls.rules.GradientDescent(rate=0.1)},
    })  # fmt: skip
    images, teacher = plain(IMAGES), {"kind": "ResNett", "filters": 2}
    table = {"kind": "TeacherMixture", "images": images, "teacher": teacher}
    refused(lambda: part(ls.data.AbstractData, table, "data"), "data.teacher kind 'ResNett'")
