#!/bin/bash
# Slurm: the first node learns, the others play.
#
#   sbatch --nodes 4 deploy/slurm.sh --level 1-1..4-4 --obs tiles
#
#SBATCH --job-name=warpzone
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@120
set -euo pipefail

export RAY_USAGE_STATS_ENABLED=0
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head_ip=$(srun --nodes=1 --ntasks=1 --nodelist="${nodes[0]}" hostname --ip-address | awk '{print $1}')
address="$head_ip:6379"

srun --nodes=1 --ntasks=1 --nodelist="${nodes[0]}" --overlap \
  ray start --head --node-ip-address="$head_ip" --port=6379 --num-cpus=0 \
  --include-dashboard=false --block &
sleep 15
if ((${#nodes[@]} > 1)); then
  workers=$(IFS=,; echo "${nodes[*]:1}")
  srun --nodes="$((${#nodes[@]} - 1))" --nodelist="$workers" --overlap \
    ray start --address="$address" --num-cpus="$SLURM_CPUS_PER_TASK" --block &
fi

# A requeued job resumes its run.
name="slurm-$SLURM_JOB_ID"
arguments=("$@" --runs runs --name "$name")
if [[ -d "runs/$name" ]]; then
  arguments=(--resume "runs/$name")
fi
srun --nodes=1 --ntasks=1 --nodelist="${nodes[0]}" --overlap \
  warpzone cluster train --address "$address" "${arguments[@]}" &
training=$!
trap 'kill -TERM "$training"' TERM
wait "$training" || wait "$training"
