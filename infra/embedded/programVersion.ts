import { execFileSync } from "node:child_process";

type Version = readonly [major: number, minor: number];
interface Program {
  name: string;
  path: string;
}

const isBefore = ([major, minor]: Version, [otherMajor, otherMinor]: Version) =>
  major < otherMajor || (major === otherMajor && minor < otherMinor);

/** The version line of a server program, such as `nats-server: v2.9.10`. Throws a one-line error if it is older than `minimum`. */
export const requireVersion = (
  { name, path }: Program,
  minimum: Version,
): { text: string; atLeast(version: Version): boolean } => {
  const output = execFileSync(path, ["--version"], { encoding: "utf8" }).trim();
  const found = /(\d+)\.(\d+)\.\d+/.exec(output);
  if (!found) throw new Error(`${path} does not tell its version ("${output.slice(0, 80)}"): install another ${name}.`);
  const version: Version = [Number(found[1]), Number(found[2])];
  if (isBefore(version, minimum))
    throw new Error(
      `${path} is ${name} ${found[0]}, older than ${minimum.join(".")}: install a newer one, or remove it.`,
    );
  return { text: found[0], atLeast: (other) => !isBefore(version, other) };
};
