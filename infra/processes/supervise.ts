import type { ChildProcess, Serializable } from "node:child_process";
import { residentBytes } from "./processMemory.ts";

const CHECK_MS = 500;

interface SuperviseOptions {
  /** Resident memory at which the process is killed, in bytes. */
  maxBytes: number;
  /** Memory is checked only while this is true. */
  isBusy(): boolean;
  /** Called once when the process has ended. */
  onGone(): void;
}

/** Watches the memory and the end of a process that runs foreign code. */
export function supervise(child: ChildProcess, { maxBytes, isBusy, onGone }: SuperviseOptions) {
  let isAlive = true;
  const end = (): void => {
    isAlive = false;
    child.kill("SIGKILL");
  };
  const memoryCheck = setInterval(() => {
    if (isBusy() && residentBytes(child.pid ?? 0) > maxBytes) end();
  }, CHECK_MS);
  const gone = new Promise<void>((resolve) => {
    child.on("error", () => resolve());
    child.once("exit", () => resolve());
  }).then(() => {
    isAlive = false;
    clearInterval(memoryCheck);
    onGone();
  });
  return {
    /** Resolves when the process has ended. */
    gone,
    end,
    isAlive: (): boolean => isAlive,
    /** Resolves when the message has left this process. Messages to an ended process are dropped. */
    send: (message: Serializable): Promise<void> =>
      new Promise((resolve) => (isAlive ? child.send(message, () => resolve()) : resolve())),
  };
}
