import { constants } from "node:os";

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

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
