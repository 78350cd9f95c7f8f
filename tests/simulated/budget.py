"""Compare the calls on simulated machines with budget.txt; see t1551_budget.sh.
SPDX-License-Identifier: BSD-3-Clause
"""
import json
import os
import subprocess
import sys

MACHINES = [(64, 1), (16, 4)]  # hosts, ranks per host; all are fat trees
HEAD = """# Budgets of calls on simulated machines (t1551_budget.sh): hosts, ranks per host, simulated microseconds, messages of all
# ranks, collective operations of a rank, call.  A budget is at most 1.05 of the measured value; a commit that raises one
# says why.  TUTTI_TEST_MEASURE=1 TUTTI_BUILD_DIR=build/smpi tests/simulated/t1551_budget.sh prints the file for the present state.
"""
ROOM = 1.03


def measure(top, build, hosts, per_host):
    """Return the measured calls of one machine by name."""
    environment = dict(os.environ, SIMULATED_TOPOLOGY="fat-tree", SIMULATED_PER_HOST=str(per_host))
    done = subprocess.run([f"{top}/scripts/simulate.sh", str(hosts * per_host), f"{build}/experiments/calls"],
                          env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{hosts} hosts x {per_host}: exit status {done.returncode}")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row["call"]: row for row in rows}


def read_budget(path):
    """Return the budget as {(hosts, per_host): {call: (microseconds, messages, collectives)}}."""
    budget = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            hosts, per_host, time, messages, collectives, call = line.rstrip("\n").split(None, 5)
            budget.setdefault((int(hosts), int(per_host)), {})[call] = (float(time), int(messages), int(collectives))
    return budget


def compare(machine, measured, budget):
    """Print the values that exceed the budget; return their number."""
    wrong = 0
    for call in sorted(set(measured) ^ set(budget)):
        print(f"{machine}: call '{call}' is {'not in the budget' if call in measured else 'not measured'}")
        wrong += 1
    for call in sorted(set(measured) & set(budget)):
        row = measured[call]
        for value, limit, what in zip((row["us"], row["messages"], row["collectives"]), budget[call],
                                      ("simulated microseconds", "messages", "collective operations")):
            if value > limit:
                print(f"{machine}: {call}: {value} {what}, budget {limit}")
                wrong += 1
    return wrong


def main():
    """Measure all machines; compare with the budget, or print a new one."""
    top, build = sys.argv[1:]
    printing = os.environ.get("TUTTI_TEST_MEASURE") == "1"
    budget = {} if printing else read_budget(f"{top}/tests/simulated/budget.txt")
    wrong = 0
    if printing:
        print(HEAD, end="")
    for hosts, per_host in MACHINES:
        measured = measure(top, build, hosts, per_host)
        if printing:
            for call, row in measured.items():
                print(f"{hosts:5} {per_host:2} {row['us'] * ROOM:10.1f} {row['messages']:8} {row['collectives']:3} {call}")
        else:
            wrong += compare(f"{hosts} hosts x {per_host}", measured, budget.get((hosts, per_host), {}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
