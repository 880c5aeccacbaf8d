import { workerData } from "node:worker_threads";

/* A thread beside the reading one, which may be in a loop and hear nothing: ends the process when its parent is gone. */
setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, 1_000);
