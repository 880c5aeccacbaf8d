import { constants } from "node:os";

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls `onGone` if the svc.mjs that started this process is killed, because it can pass no signal on. Returns a function that ends this. */
export const watchLauncher = (onGone: () => void): (() => void) => {
  if (!process.channel || process.env["SVC_LAUNCHER"] !== String(process.ppid)) return () => {};
  process.once("disconnect", onGone);
  process.channel.unref();
  return () => void process.off("disconnect", onGone);
};

/**
 * Keeps signals from ending the process without its exit hooks while servers run. During the start a signal exits the process.
 * After `onStarted`, only the caller's listeners act, and a second signal does not interrupt the stop. If the svc.mjs that started
 * this process was killed, it could not forward a signal, so the process sends itself SIGTERM.
 */
export const guardSignals = () => {
  let isStarting = true;
  const onSignal = (name: NodeJS.Signals) => {
    if (isStarting) process.exit(128 + constants.signals[name]);
  };
  for (const name of names) process.on(name, onSignal);
  const leaveLauncher = watchLauncher(() => void process.kill(process.pid, "SIGTERM"));
  return {
    onStarted: () => {
      isStarting = false;
    },
    release: () => {
      for (const name of names) process.off(name, onSignal);
      leaveLauncher();
    },
  };
};
