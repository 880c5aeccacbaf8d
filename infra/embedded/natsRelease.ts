import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** The version that docker-compose.yml and deploy/scale.yml name as well. */
export const version = "2.12.15";
// From the official Docker image.
const checksums: Record<string, string> = {
  "linux-amd64": "58ab8131f819263897e2fc38e503e1b755b63bcafeecc7d12582487df48ca15e",
  "linux-arm64": "b724db99fefbf8f5c808baa82819ee50350aee9734017e4a478f7e545cef3ab6",
};

/** Downloads the pinned release into the folder, verifies its checksum and answers with the program's path. */
export const fetchRelease = async (folder: string) => {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const checksum = checksums[platform];
  if (!checksum) throw new Error(`no pinned release for ${platform}`);
  const name = `nats-server-v${version}-${platform}`;
  const address = `https://github.com/nats-io/nats-server/releases/download/v${version}/${name}.tar.gz`;
  const response = await fetch(address, { signal: AbortSignal.timeout(120_000) }).catch((error: Error) => {
    throw new Error(`${address} cannot be reached (${(error.cause as Error | undefined)?.message ?? error.message})`, {
      cause: error,
    });
  });
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== checksum) throw new Error(`${address} has the checksum ${actual}, not ${checksum}`);
  writeFileSync(join(folder, "release.tar.gz"), bytes);
  await promisify(execFile)("tar", ["-xzf", "release.tar.gz"], { cwd: folder });
  return join(folder, name, "nats-server");
};
