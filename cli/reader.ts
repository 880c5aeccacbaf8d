import { explainError } from "./explainError.ts";

/* What happens when the output of this process can no longer be written. */

/** For a command. A reader that closes the pipe (`| head`) is not a failure. */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") {
      process.stderr.write(`${explainError(error)}\n`);
      process.exitCode = 1;
    }
    process.exit();
  });
}

/**
 * For a service, instead of `endWithReader`. Calls `onGone` if the reader of its log is gone. Lines that a full or failing disk does
 * not take are lost, because a service must not end for want of a log.
 */
export function outliveReader(onGone: () => void): void {
  for (const output of [process.stdout, process.stderr]) {
    output.removeAllListeners("error");
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") onGone();
    });
  }
}
