#include "core/environment.hpp"

#include <boost/test/unit_test.hpp>

namespace headway {

BOOST_AUTO_TEST_SUITE(environment_suite)

BOOST_AUTO_TEST_CASE(what_tells_of_a_task_is_told_from_what_tells_of_the_job) {
  // As `srun --mpi=pmi2 env | grep -E '^(SLURM|PMI)'` shows them within `sbatch`.
  for (const char* variable : {"SLURM_PROCID",
                               "SLURM_LOCALID",
                               "SLURM_NODEID",
                               "SLURM_NTASKS",
                               "SLURM_NTASKS_PER_NODE",
                               "SLURM_NPROCS",
                               "SLURM_STEP_ID",
                               "SLURM_STEPID",
                               "SLURM_STEP_NODELIST",
                               "SLURM_STEP_NUM_TASKS",
                               "SLURM_TASKS_PER_NODE",
                               "SLURM_TASK_PID",
                               "SLURM_GTIDS",
                               "SLURM_SRUN_COMM_PORT",
                               "SLURM_LAUNCH_NODE_IPADDR",
                               "SLURM_CPU_BIND",
                               "SLURM_CPU_BIND_LIST",
                               "SLURMD_NODENAME",
                               "SLURM_PMIXP_ABORT_AGENT_PORT",
                               "PMI_RANK",
                               "PMI_FD",
                               "PMIX_RANK"}) {
    BOOST_TEST(tells_of_a_task(variable), variable);
  }
  for (const char* variable :
       {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NAME", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_NNODES",
        "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_JOB_ID", "SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "SLURM_SUBMIT_DIR",
        "SLURM_RESTART_COUNT", "SLURM_TMPDIR", "SLURM_CONF", "PMIX_MCA_gds", "PATH", ""}) {
    BOOST_TEST(!tells_of_a_task(variable), variable);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
