import { constants } from "node:os";

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Prevents signals from ending the process without its exit hooks while servers run. During the start a signal exits the
 * process; after `onStarted` only the caller's own listeners act, and a second signal does not interrupt the stop. When
 * the svc.mjs that started this process was killed, and so passed on no signal, the process sends itself SIGTERM.
 */
export const guardSignals = () => {
  let isStarting = true;
  const onSignal = (name: NodeJS.Signals) => {
    if (isStarting) process.exit(128 + constants.signals[name]);
  };
  const onLauncherGone = () => void process.kill(process.pid, "SIGTERM");
  for (const name of names) process.on(name, onSignal);
  if (process.channel && process.env["SVC_LAUNCHER"] === String(process.ppid)) {
    process.once("disconnect", onLauncherGone);
    process.channel.unref();
  }
  return {
    onStarted: () => {
      isStarting = false;
    },
    release: () => {
      for (const name of names) process.off(name, onSignal);
      process.off("disconnect", onLauncherGone);
    },
  };
};
