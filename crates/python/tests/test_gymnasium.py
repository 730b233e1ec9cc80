"""The environments."""

import subprocess
import sys
import warnings

import pytest

gymnasium = pytest.importorskip("gymnasium")
import numpy as np  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

import homing  # noqa: E402
import homing.gymnasium  # noqa: E402
from conftest import tower  # noqa: E402


@pytest.fixture(scope="module")
def towers(blocks):
    return [blocks.problem_from_text(tower(names)) for names in ("ab", "abc", "cba", "abcd")]


def make(problems, **options):
    return gymnasium.make("homing/Planning-v0", problems=problems, **options)


@pytest.mark.parametrize("observation", ["atoms", "tensors", "graph"])
def test_the_checker_finds_nothing(towers, observation):
    env = make(towers, observation=observation, shaping="ff", gamma=0.99, max_steps=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The checker itself advises against what a graph is.
        warnings.filterwarnings("ignore", message=".*(not a numpy array|render_mode).*")
        check_env(env.unwrapped, skip_render_check=True)


def test_the_name_alone_brings_the_module(warehouse):
    program = (
        "import gymnasium; gymnasium.make('homing.gymnasium:homing/Planning-v0', "
        f"domain={str(warehouse / 'domain.pddl')!r}, problems={str(warehouse / 'small')!r}).reset()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def walk_to_goal(env, plan):
    total = 0.0
    for name in plan:
        action = env.unwrapped.action_names.index(name)
        assert env.unwrapped.action_masks()[action]
        _, reward, terminated, truncated, info = env.step(action)
        total += reward
    return total, terminated, truncated, info


def test_a_plan_reaches_the_goal(towers):
    env = make(towers)
    _, info = env.reset(seed=0, options={"problem": 1})
    assert info["problem"] == "tower-abc"
    plan = homing.solve(towers[1], search="astar", heuristic="max")["plan"]
    total, terminated, truncated, info = walk_to_goal(env, plan)
    assert terminated and not truncated and info["goal"]
    assert total == -len(plan)


def test_shaping_adds_the_difference_of_potentials(towers):
    task = homing.Task(towers[1])
    env = make(towers, shaping="ff")
    _, info = env.reset(seed=0, options={"problem": "tower-abc"})
    assert info["potential"] == -task.heuristic("ff")(task.initial_state)
    plan = homing.solve(towers[1], search="astar", heuristic="max")["plan"]
    total, terminated, _, _ = walk_to_goal(env, plan)
    # With γ = 1 the potentials cancel but for the first.
    assert terminated and total == pytest.approx(-len(plan) - info["potential"])


def test_an_action_that_is_not_applicable_changes_nothing(towers):
    env = make(towers)
    observation, info = env.reset(seed=3, options={"problem": 1})
    action = int(np.flatnonzero(info["action_mask"] == 0)[0])
    after, reward, terminated, _, info = env.step(action)
    assert reward == -1.0 and not terminated and not info["applicable"]
    assert all((after[key] == observation[key]).all() for key in after)


def test_episodes_are_truncated(towers):
    env = make(towers, max_steps=2)
    env.reset(seed=0, options={"problem": 3})
    action = env.unwrapped.action_names.index
    assert not any(env.step(action("(pick-up a)"))[2:4])
    assert env.step(action("(put-down a)"))[2:4] == (False, True)


def test_observations_say_the_same(towers):
    tensors = make(towers, observation="tensors")
    graph = make(towers, observation="graph")
    z, _ = tensors.reset(seed=0, options={"problem": 3})
    g, _ = graph.reset(seed=0, options={"problem": 3})
    entries = sum(int(array.sum()) for name, array in z.items() if name != "objects")
    assert g.nodes.shape[0] == 4 + entries
    assert z["objects"].sum() == 4
    edges = sum(
        arity * int(z[f"z{arity}"].sum()) for arity in range(3) if f"z{arity}" in z
    )
    assert g.edge_links.shape == (edges, 2) and g.edges.shape == (edges,)


def test_many_walks_do_what_one_does(towers):
    options = dict(shaping="ff", gamma=0.9, max_steps=30)
    many = homing.gymnasium.PlanningVectorEnv(problems=towers, num_envs=40, threads=3, **options)
    one = make(towers, **options).unwrapped
    observations, info = many.reset(seed=7)
    assert many.observation_space.contains(observations)
    random = np.random.default_rng(1)
    rewards, masks = [], [info["action_mask"]]
    actions, ends = [], []
    for _ in range(200):
        mask = masks[-1].astype(float) + 1e-3
        drawn = np.array([random.choice(len(row), p=row / row.sum()) for row in mask])
        observations, reward, terminated, truncated, info = many.step(drawn)
        actions.append(drawn)
        rewards.append(reward)
        masks.append(info["action_mask"])
        ends.append(terminated | truncated)
    assert np.array(ends).any()
    # Follow some of them, from the first state to the first end.
    again, _ = many.reset(seed=7)
    for walk in range(0, 40, 5):
        index = next(
            index for index, task in enumerate(one.tasks)
            if (many._goals[index] == again["goal"][walk]).all()
        )
        one.reset(options={"problem": index})
        for step in range(200):
            assert (one.action_masks() == masks[step][walk]).all()
            _, reward, terminated, truncated, _ = one.step(actions[step][walk])
            assert reward == pytest.approx(rewards[step][walk])
            assert (terminated or truncated) == ends[step][walk]
            if terminated or truncated:
                break


def test_make_vec(towers):
    env = gymnasium.make_vec(
        "homing/Planning-v0", num_envs=5, vectorization_mode="vector_entry_point", problems=towers
    )
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert info["action_mask"].shape == (5, env.single_action_space.n)


def test_files_and_folders(warehouse):
    env = gymnasium.make(
        "homing/Planning-v0", domain=warehouse / "domain.pddl", problems=warehouse / "small"
    )
    assert len(env.unwrapped.tasks) == len(list((warehouse / "small").glob("*.pddl")))
    assert env.reset(seed=0)[1]["action_mask"].any()


def test_maskable_ppo_trains(towers):
    sb3 = pytest.importorskip("sb3_contrib")
    env = make(towers[:2], shaping="ff", max_steps=40)
    model = sb3.MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=32, seed=0)
    model.learn(256)
