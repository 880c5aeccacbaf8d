/** `name:n`: this process kills itself when it reaches the failpoint of that name for the nth time. */
const [point, nth] = (process.env["FAIL_AT"] ?? "").split(":");
if (point && process.env["NODE_ENV"] === "production")
  throw new Error("FAIL_AT is for the crash harness only: unset it in production.");

let left = Number(nth ?? 1);

/** A named point at which the crash harness can kill the process. Does nothing without FAIL_AT. */
export const failpoint: (name: string) => void = point
  ? (name) => {
      if (name === point && --left === 0) process.kill(process.pid, "SIGKILL");
    }
  : () => {};
