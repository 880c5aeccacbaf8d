/**
 * Ends this process only when its parent ends. The Ctrl-C of a terminal reaches the whole process group, while the parent still
 * waits for results.
 */
export function endWithParent(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
}
