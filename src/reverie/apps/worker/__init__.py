"""Fleet work: dreams and extraction of many repositories as jobs, run by workers on any number of machines.

- `queue`: submits and lists jobs, runs a worker, takes over the jobs of workers that died (procrastinate, PostgreSQL)
- `job`: one job: a copy of the repository's memories, a dream or extraction on it, what changed back in one transaction
- `steps`: a model whose answers are stored, so that a job that runs again does not pay twice; the budget of a tenant
"""
