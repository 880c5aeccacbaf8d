/** `name:n`: this process kills itself when it comes to the point of that name for the nth time. */
const [point, nth] = (process.env["FAIL_AT"] ?? "").split(":");
if (point && process.env["NODE_ENV"] === "production")
  throw new Error("FAIL_AT is for the crash harness: it is not to be set in production.");

let left = Number(nth ?? 1);

/** A named point at which the crash harness can have the process die. Without FAIL_AT it does nothing. */
export const failpoint: (name: string) => void = point
  ? (name) => {
      if (name === point && --left === 0) process.kill(process.pid, "SIGKILL");
    }
  : () => {};
