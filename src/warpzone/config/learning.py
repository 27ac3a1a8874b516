"""Options of the network, the learner and replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpzone.config.option import option

Schedule = Literal["constant", "linear", "cosine"]


@dataclass(frozen=True)
class ModelOptions:
    """The network."""

    encoder: str = option(
        "auto",
        "Network that encodes observations: space-to-depth, nature or impala for pixels, tiles-v2 "
        "or tiles for tiles, or an encoder registered by a plug-in; 'auto' selects space-to-depth "
        "or tiles, and the presets campaign and refine select tiles-v2, which has more inputs. "
        "impala is meant for GPUs.",
        registry="encoder",
        metavar="NAME",
    )
    hidden: int = option(
        256,
        "Width of the hidden layer. Raise it for one policy that plays many levels.",
        at_least=1,
        at_most=16_384,
        metavar="N",
    )
    heads: Literal["linear", "noisy"] = option(
        "linear",
        "Policy and value heads. Noisy heads explore with weight noise that is resampled for every "
        "rollout.",
    )
    eval_temperature: float = option(
        0.5,
        "Temperature of the policy in evaluation and videos: logits are divided by it before an "
        "action is sampled. Training always samples at 1. Lower it if --greedy clears more often.",
        above=0.0,
        at_most=1000.0,
        metavar="T",
    )
    memory: Literal["none", "gru", "lstm", "transformer"] = option(
        "none",
        "Recurrent core of the network. Using one disables replay.",
    )
    memory_size: int = option(
        128,
        "Width of the recurrent core.",
        at_least=1,
        at_most=16_384,
        metavar="N",
    )
    memory_window: int = option(
        16,
        "Steps that the transformer attends to.",
        at_least=1,
        at_most=4096,
        metavar="STEPS",
    )


@dataclass(frozen=True)
class LearnOptions:
    """The learner."""

    algo: str = option(
        "ppo",
        "Algorithm: ppo, appo (PPO with V-trace targets, for rollouts of older policies), vtrace "
        "(as in IMPALA), or an algorithm registered by a plug-in. vtrace makes one pass over each "
        "rollout and sets suitable defaults for the options that you do not set yourself.",
        registry="algorithm",
        metavar="NAME",
        everyday=True,
    )
    rollout_steps: int = option(
        64,
        "Steps per environment and rollout, that is, between two updates.",
        at_least=1,
        at_most=65_536,
        metavar="STEPS",
    )
    epochs: int = option(
        4,
        "Passes over each rollout.",
        at_least=1,
        at_most=1000,
        metavar="N",
    )
    minibatch_size: int = option(
        1024,
        "Steps per minibatch. Lower it if memory runs out.",
        at_least=1,
        at_most=16_777_216,
        metavar="STEPS",
    )
    grad_accumulation: int = option(
        1,
        "Number of minibatches whose gradients are accumulated before an optimizer step. Raise it "
        "if a large minibatch does not fit into memory.",
        at_least=1,
        at_most=65_536,
        metavar="N",
    )
    learning_rate: float = option(
        1e-3,
        "Learning rate at the start of the run.",
        above=0.0,
        at_most=10.0,
        metavar="LR",
        everyday=True,
    )
    optimizer: Literal["adam", "adamw"] = option("adam", "Optimizer.")
    lr_schedule: Schedule = option(
        "constant",
        "How the learning rate decays over the steps of the run. Use linear or cosine for long "
        "runs.",
    )
    lr_final_factor: float = option(
        0.1,
        "Learning rate at the end of the schedule, as a fraction of the initial one.",
        at_least=0.0,
        at_most=1.0,
        metavar="SHARE",
    )
    lr_warmup: float = option(
        0.0,
        "Fraction of the run over which the learning rate warms up. Set it for large "
        "networks that diverge early.",
        at_least=0.0,
        at_most=1.0,
        metavar="SHARE",
    )
    lr_success_factor: float = option(
        0.2,
        "Factor applied to the learning rate when every episode clears the level; it is "
        "interpolated by the clear rate. 1 disables this.",
        at_least=0.0,
        at_most=1.0,
        metavar="SHARE",
    )
    gamma: float = option(
        0.97,
        "Discount factor per step.",
        at_least=0.0,
        at_most=1.0,
        metavar="GAMMA",
    )
    progress_gamma: float = option(
        1.0,
        "Additional discount factor per tile (16 pixels) of progress. Below 1, with a gamma close "
        "to 1, rewards are discounted by distance instead of time, so that waiting costs little.",
        at_least=0.0,
        at_most=1.0,
        metavar="GAMMA",
    )
    gae_lambda: float = option(
        0.95,
        "Lambda of generalized advantage estimation.",
        at_least=0.0,
        at_most=1.0,
        metavar="LAMBDA",
    )
    advantage_norm: Literal["minibatch", "level"] = option(
        "minibatch",
        "PPO: how advantages are normalized. 'minibatch' normalizes each minibatch; 'level' "
        "divides by the running magnitude on the level, so that every level counts alike.",
    )
    clip_coef: float = option(
        0.2,
        "PPO: clipping range of the probability ratio around 1.",
        above=0.0,
        at_most=100.0,
        metavar="C",
    )
    stagnation_penalty: float = option(
        0.0,
        "Penalty for an episode that is truncated because it makes no progress "
        "(--stagnation-limit). Make it as large as --reward-death if a policy stands still rather "
        "than risk a death.",
        at_least=0.0,
        at_most=1e6,
        metavar="PENALTY",
    )
    critic_warmup: int = option(
        0,
        "Environment steps at the start of a run in which only the value head learns. Use it with "
        "--init-from if the critic of that policy never learned from these rewards.",
        at_least=0,
        at_most=10**15,
        metavar="STEPS",
    )
    vf_coef: float = option(
        0.5,
        "Coefficient of the value loss.",
        at_least=0.0,
        at_most=1e6,
        metavar="C",
    )
    ent_coef: float = option(
        0.01,
        "Coefficient of the entropy bonus while no episode clears the level. Raise it if the "
        "policy stops exploring too early.",
        at_least=0.0,
        at_most=1e6,
        metavar="C",
    )
    ent_coef_at_success: float = option(
        0.001,
        "Coefficient of the entropy bonus when every episode clears the level.",
        at_least=0.0,
        at_most=1e6,
        metavar="C",
    )
    ent_coef_fade: float = option(
        1.0,
        "Exponent of the clear rate that interpolates between --ent-coef and "
        "--ent-coef-at-success; below 1, the bonus fades sooner.",
        above=0.0,
        at_most=100.0,
        metavar="POWER",
    )
    ema_decay: float = option(
        0.95,
        "Decay per update of the exponential moving average of the weights, which evaluation and "
        "videos use; 0 uses the current weights.",
        at_least=0.0,
        at_most=1.0,
        metavar="DECAY",
    )
    max_grad_norm: float = option(
        0.5,
        "Maximum norm of the gradients; larger gradients are clipped.",
        above=0.0,
        at_most=1e12,
        metavar="NORM",
    )
    grad_norm_limit: float = option(
        1000.0,
        "Gradient norm above which an optimizer step is skipped, as for NaN or infinite gradients.",
        above=0.0,
        at_most=1e12,
        metavar="NORM",
    )
    max_skipped_updates: int = option(
        20,
        "Consecutive optimizer steps that may be skipped before the run stops with a snapshot.",
        at_least=0,
        at_most=1_000_000,
        metavar="N",
    )
    target_kl: float = option(
        0.0,
        "Approximate KL divergence above which an update skips its remaining epochs; 0 disables "
        "this.",
        at_least=0.0,
        at_most=1e6,
        metavar="KL",
    )


@dataclass(frozen=True)
class ReplayOptions:
    """Prioritized replay and self-imitation."""

    capacity: int = option(
        0,
        "Capacity in transitions, such as 200_000 (1.6 GB for pixels); 0 disables replay.",
        at_least=0,
        at_most=10**9,
        metavar="N",
    )
    interval: int = option(
        1,
        "Number of updates between two updates that learn from replay. Every rollout is added to "
        "the buffer.",
        at_least=1,
        at_most=1_000_000,
        metavar="UPDATES",
    )
    batches: int = option(
        4,
        "Number of batches sampled each time.",
        at_least=1,
        at_most=10_000,
        metavar="N",
    )
    batch_size: int = option(
        256,
        "Transitions per batch.",
        at_least=1,
        at_most=1_048_576,
        metavar="N",
    )
    weight: float = option(
        0.1,
        "Coefficient of the self-imitation loss.",
        at_least=0.0,
        at_most=1e6,
        metavar="C",
    )
    alpha: float = option(
        0.6,
        "Exponent of the priorities: 0 samples uniformly, 1 in proportion to the priorities.",
        at_least=0.0,
        at_most=1.0,
        metavar="ALPHA",
    )
    beta: float = option(
        0.4,
        "Initial exponent of the importance-sampling weights; it is annealed to 1 over the run.",
        at_least=0.0,
        at_most=1.0,
        metavar="BETA",
    )
    learning_starts: int = option(
        10_000,
        "Transitions that the buffer must hold before it is sampled.",
        at_least=0,
        at_most=10**9,
        metavar="N",
    )
    half: bool = option(
        True,
        "Store returns as float16.",
        off="Store returns as float32 instead of float16, for returns above 65,504.",
    )
    sampler: Literal["auto", "tree", "device"] = option(
        "auto",
        "Where to sample: with a sum tree on the CPU (tree), or on the network's device (device); "
        "'auto' selects the faster one.",
    )
    save: bool = option(
        True,
        "Save the replay buffer with every checkpoint, so that a run resumes exactly.",
        off="Omit the replay buffer from checkpoints. They stay small, but a resumed run starts "
        "with an empty buffer.",
    )
