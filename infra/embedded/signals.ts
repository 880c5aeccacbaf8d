import { constants } from "node:os";

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Holds signals off while services run. Before `started` a signal ends the process through its exit hooks; after it, what a signal does is the
 * caller's own listener's business, and one that comes again during the stop does not cut it short. When the svc.mjs that started this
 * process is gone (killed, so that it passed on no signal), the process sends itself SIGTERM.
 */
export const guardSignals = () => {
  let starting = true;
  const hold = (name: NodeJS.Signals) => {
    if (starting) process.exit(128 + constants.signals[name]);
  };
  const follow = () => void process.kill(process.pid, "SIGTERM");
  for (const name of names) process.on(name, hold);
  if (process.channel && process.env["SVC_LAUNCHER"] === String(process.ppid)) {
    process.once("disconnect", follow);
    process.channel.unref();
  }
  return {
    started: () => {
      starting = false;
    },
    release: () => {
      for (const name of names) process.off(name, hold);
      process.off("disconnect", follow);
    },
  };
};
