"""Training, models."""

import math
import pickle

import homing
import pytest

from conftest import tower

SMALL = {"learner": "nlm", "max_arity": 2, "layers": 3, "features": 4}


@pytest.fixture(scope="module")
def towers(blocks):
    return [blocks.problem_from_text(tower(names)) for names in ("ab", "abc", "bca", "abcd")]


@pytest.fixture(scope="module")
def model(blocks, towers):
    return homing.train(blocks, towers, steps=300, **SMALL, seed=1)


def test_a_model_solves_larger_problems(blocks, model):
    assert model.domain == "blocks" and model.kind == "nlm"
    assert model.record["goals"] > 0 and model.record["steps"] == 300
    assert model.header["config"]["features"] == 4
    record = homing.solve(blocks.problem_from_text(tower("abcdef")), model=model, search="gbfs")
    assert record["outcome"] == "solved" and record["heuristic"] == "H-ff"
    assert record["model"] is None


def test_the_same_seed_gives_the_same_model(blocks, towers, model):
    again = homing.train(blocks, towers, steps=300, **SMALL, seed=1)
    other = homing.train(blocks, towers, steps=300, **SMALL, seed=2)
    assert again.to_bytes() == model.to_bytes() != other.to_bytes()


def test_every_step_is_told(blocks, towers):
    steps = []
    homing.train(blocks, towers, steps=150, **SMALL, callback=steps.append)
    assert [record["step"] for record in steps] == list(range(1, 151))
    assert steps[-1]["goals"] >= steps[0]["goals"] and steps[-1]["loss"] is not None


def test_a_callback_may_end_training(blocks, towers, tmp_path):
    out = tmp_path / "model.safetensors"

    def stop(record):
        return record["step"] < 50

    with pytest.raises(homing.TrainingStopped) as caught:
        homing.train(blocks, towers, out, steps=120, **SMALL, callback=stop)
    assert caught.value.steps == 50 and caught.value.reason == "callback"
    resumed = homing.train(blocks, towers, out, steps=120, **SMALL, resume=True)
    whole = homing.train(blocks, towers, steps=120, **SMALL)
    assert resumed.to_bytes() == whole.to_bytes() == out.read_bytes()


@pytest.mark.parametrize("learner", ["counts", "nlm"])
def test_the_memory_limit_is_named_as_what_ended_training(blocks, towers, learner):
    with pytest.raises(homing.TrainingStopped, match="memory limit") as caught:
        homing.train(blocks, towers, learner=learner, memory_limit=1 << 20)
    assert caught.value.reason == "memory"


def test_files_and_folders(warehouse, tmp_path):
    out = tmp_path / "warehouse.safetensors"
    model = homing.train(
        homing.Domain(warehouse / "domain.pddl"), warehouse / "small", out, learner="nlm", steps=60,
    )
    assert homing.Model.load(out).to_bytes() == model.to_bytes()
    assert model.record["model"] == str(out)


def test_models_go_to_files_and_back(model, tmp_path):
    path = tmp_path / "copy.safetensors"
    model.save(path)
    assert homing.Model.load(path).to_bytes() == model.to_bytes()
    assert pickle.loads(pickle.dumps(model)).to_bytes() == model.to_bytes()
    path.write_bytes(b"rubbish")
    with pytest.raises(homing.ModelError, match="copy.safetensors"):
        homing.Model.load(path)


def test_states_are_evaluated_in_batches(blocks, model):
    task = homing.Task(blocks.problem_from_text(tower("abcde")))
    states = [task.initial_state] + [state for _, state in task.successors(task.initial_state)]
    values = model.evaluate(states)
    assert all(math.isfinite(value) for value in values)
    h = model.heuristic(task)
    assert values == h.evaluate(states) == [h(state) for state in states]
    assert model.evaluate([]) == []
    assert task.solve(model=model)["outcome"] == "solved"


def test_a_model_of_another_domain_is_refused(warehouse, model):
    problem = next((warehouse / "small").glob("*.pddl"))
    with pytest.raises(homing.ModelError, match="another domain"):
        homing.solve(problem, warehouse / "domain.pddl", model=model)


def test_nothing_to_learn_is_an_error(blocks):
    solved = tower("ab").replace("(on a b)", "(clear a)")
    with pytest.raises(homing.HomingError, match="holds its goal already"):
        homing.train(blocks, [blocks.problem_from_text(solved)], steps=10, **SMALL)


def test_learning_by_ranking(blocks, towers):
    told = []
    model = homing.train(blocks, towers, callback=told.append, budget=5)
    assert model.kind == "counts" and model.record["learner"] == "counts"
    # What takes longer than a tenth of a second is told on the way, too.
    phases = {one["phase"] for one in told} - {"preparing", "grounding", "search"}
    assert phases == {"gathered", "fitted", "compared"}
    problem = blocks.problem_from_text(tower("abcdefgh"))
    record = homing.solve(problem, model=model)
    assert record["outcome"] == "solved" and homing.validate(problem, record["plan"])
    again = homing.train(blocks, towers, budget=5)
    assert again.to_bytes() == model.to_bytes()


def test_learners_and_their_options(blocks, towers):
    with pytest.raises(homing.RequestError, match="no learner `best`"):
        homing.train(blocks, towers, learner="best")
    with pytest.raises(TypeError, match="no option `steps`; there are .*epochs"):
        homing.train(blocks, towers, steps=10)
    with pytest.raises(homing.RequestError, match="no preset `best`"):
        homing.train(blocks, towers, preset="best")
