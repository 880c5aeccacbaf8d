import { renameSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

/** Loaded into a process of the service: on SIGUSR2 it collects garbage and writes the bytes that stay to `live-PID` in DATA_DIR. */
if (isMainThread) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  process.on("SIGUSR2", () => {
    // buffers are freed only by the collection after the one that finds them
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    const path = `${process.env["DATA_DIR"]}/live-${process.pid}`;
    writeFileSync(`${path}.new`, String(heapUsed + external));
    renameSync(`${path}.new`, path);
  });
}
