import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findOnPath } from "./findOnPath.ts";

const runCommand = promisify(execFile);

/** A release with pinned checksums. */
export interface Release {
  version: string;
  /** SHA-256 by platform. */
  checksums: Record<string, string>;
}
interface DebianPackage extends Release {
  /** Its full version in Debian. */
  revision: string;
}

export const NEWEST_DEBIAN_RELEASE: DebianPackage = {
  version: "2.15.1",
  revision: "2.15.1-1",
  checksums: {
    "linux-amd64": "31ef4ceaa84e8248d449e508472e3770c17c3695cb5cb0ee96e03912724ea884",
    "linux-arm64": "68923b614b6b5594bbd63ffdce7258c2155ec448fb4cb7efd099bf9273eca128",
  },
};

/** The newest release with an official Docker image, which docker-compose.yml and deploy/scale.yml name. GitHub keeps it. */
export const GITHUB_RELEASE: Release = {
  version: "2.15.0",
  checksums: {
    "linux-amd64": "5d2c51caca950333aba84911df7d377f826f3a59ec36061c6539105084f65c92",
    "linux-arm64": "cdc208f5a3f42963a52b6ab06ef65626bb870315dc936e26ba571780c6351112",
  },
};

/** The releases of Debian 13 and 12, which mirrors keep after they have replaced NEWEST_DEBIAN_RELEASE. */
export const OLDER_DEBIAN_RELEASES: DebianPackage[] = [
  {
    version: "2.10.27",
    revision: "2.10.27-1+b2",
    checksums: {
      "linux-amd64": "6d913ac987b78734c08537c2adeb1526cf735f216173a9170d94b185fcfe6f8a",
      "linux-arm64": "0c9a617510b28c1b4fb4a38aabea6ab8cd7f026247f2abdff8b955b2278ce049",
    },
  },
  {
    version: "2.9.10",
    revision: "2.9.10-1+b3",
    checksums: {
      "linux-amd64": "9f69ebb6f612e652382fde175622160dcd81fd97f2356f5da80bb5c3f48513dd",
      "linux-arm64": "7748c8906ffbaf4f08018c61eeeb5f5e57b4f7bd5307415a802450141b0ee8cd",
    },
  },
];

/** Downloads a release into a folder, and returns the program's path. */
export interface NatsSource {
  name: string;
  version: string;
  fetch(folder: string): Promise<string>;
}

const architecture = (): string => (process.arch === "x64" ? "amd64" : process.arch);

/** Throws unless the bytes have this platform's checksum. */
export function requireChecksum(bytes: Uint8Array, { version, checksums }: Release, from: string): void {
  const platform = `${process.platform}-${architecture()}`;
  const wanted = checksums[platform];
  if (!wanted) throw new Error(`no pinned nats-server ${version} for ${platform}`);
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== wanted) throw new Error(`${from} has the checksum ${actual}, not ${wanted}`);
}

const APT_HELPER = "/usr/lib/apt/apt-helper";

/** The Debian mirrors that this machine is configured to use. */
async function readMirrors(): Promise<string[]> {
  const args = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"];
  const { stdout } = await runCommand("apt-get", args, { timeout: 30_000 });
  return [...new Set(stdout.split("\n").filter((uri) => uri && !uri.includes("security")))];
}

/** Downloads with apt's own downloader, which knows the machine's proxies. Needs no root and changes nothing. */
async function fetchPackage(release: DebianPackage, folder: string): Promise<string> {
  const file = `nats-server_${release.revision}_${architecture()}.deb`;
  const archive = join(folder, "nats-server.deb");
  const reasons: string[] = [];
  for (const mirror of await readMirrors()) {
    const address = `${mirror.replace(/\/$/, "")}/pool/main/n/nats-server/${file}`;
    try {
      const options = ["-o", "APT::Sandbox::User="];
      await runCommand(APT_HELPER, [...options, "download-file", address, archive], { timeout: 120_000 });
      requireChecksum(readFileSync(archive), release, address);
      await runCommand("dpkg-deb", ["-x", archive, join(folder, "package")]);
      return join(folder, "package", "usr", "sbin", "nats-server");
    } catch (error) {
      reasons.push(String((error as { stderr?: string }).stderr || error).trim());
    }
  }
  throw new Error(reasons.join("; ") || "apt names no mirror");
}

async function fetchGitHub(folder: string): Promise<string> {
  const name = `nats-server-v${GITHUB_RELEASE.version}-${process.platform}-${architecture()}`;
  const address = `https://github.com/nats-io/nats-server/releases/download/v${GITHUB_RELEASE.version}/${name}.tar.gz`;
  const response = await fetch(address, { signal: AbortSignal.timeout(120_000) }).catch((error: Error) => {
    throw new Error(`${address} cannot be reached (${(error.cause as Error | undefined)?.message ?? error.message})`, {
      cause: error,
    });
  });
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  requireChecksum(bytes, GITHUB_RELEASE, address);
  writeFileSync(join(folder, "release.tar.gz"), bytes);
  await runCommand("tar", ["-xzf", "release.tar.gz"], { cwd: folder });
  return join(folder, name, "nats-server");
}

/** The pinned downloads, the newest first. */
export function natsSources(): NatsSource[] {
  const fromDebian = (release: DebianPackage): NatsSource => ({
    name: `Debian's package ${release.revision}`,
    version: release.version,
    fetch: (folder) => fetchPackage(release, folder),
  });
  const hasApt = findOnPath("apt-get") !== undefined && findOnPath("dpkg-deb") !== undefined;
  const debian = (releases: DebianPackage[]) => (hasApt ? releases.map(fromDebian) : []);
  const github = {
    name: `the release ${GITHUB_RELEASE.version} on GitHub`,
    version: GITHUB_RELEASE.version,
    fetch: fetchGitHub,
  };
  return [...debian([NEWEST_DEBIAN_RELEASE]), github, ...debian(OLDER_DEBIAN_RELEASES)];
}
