import { workerData } from "node:worker_threads";

/* A thread that ends the process when its parent is gone. The reading thread may be in an endless loop and notice nothing. */
setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, 1_000);
