import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { afterFile } from "../cleanUp.ts";
import { testFolder } from "../harness.ts";

/* A registry that offers a Node with another hash than the one in the launcher. */

const LAUNCHER = readFileSync(new URL("../../svc.mjs", import.meta.url), "utf8");
const NAME = `node-${process.platform}-${process.arch}`;
const BLOCK = 512;

/** A tar archive of one file. */
function archiveOf(path: string, content: string): Buffer {
  const header = Buffer.alloc(BLOCK);
  const size = content.length.toString(8).padStart(11, "0");
  header.write(path, 0);
  header.write("0000644\0" + "0000000\0".repeat(2) + `${size}\0${"0".repeat(11)}\0${" ".repeat(8)}0`, 100);
  header.write("ustar\0" + "00", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(content.length / BLOCK) * BLOCK);
  body.write(content);
  return gzipSync(Buffer.concat([header, body, Buffer.alloc(2 * BLOCK)]));
}

const version = new RegExp(`"${process.platform}-${process.arch}": \\{\\s+version: "([^"]+)"`).exec(LAUNCHER)![1]!;
const tarball = archiveOf("package/package.json", JSON.stringify({ name: NAME, version }));
const hash = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;

const server = createServer(({ url }, response) => {
  if (url!.endsWith(".tgz")) return response.end(tarball);
  const dist = { tarball: `${registry}/${NAME}.tgz` };
  return response.setHeader("content-type", "application/json").end(
    JSON.stringify({
      name: NAME,
      "dist-tags": { latest: version },
      versions: { [version]: { name: NAME, version, dist } },
    }),
  );
});
await once(server.listen(0, "127.0.0.1"), "listening");
afterFile(() => void server.close());
const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** The output of a launcher with this change of its source when it has to install Node. */
async function install(change: (source: string) => string): Promise<string> {
  const folder = await testFolder();
  const old = LAUNCHER.replace(/return major > 24 .*;/, "return false;");
  expect(old).not.toBe(LAUNCHER);
  writeFileSync(`${folder}/svc.mjs`, change(old));
  const env = {
    ...process.env,
    npm_config_registry: registry,
    npm_config_cache: `${folder}/cache`,
    npm_config_fetch_retries: "0",
  };
  const child = spawn(process.execPath, [`${folder}/svc.mjs`, "doctor"], { env, stdio: ["ignore", "ignore", "pipe"] });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(code).toBe(1);
  return said;
}

test("the launcher refuses a Node whose bytes are not those of the pinned hash", async () => {
  expect(await install((source) => source)).toMatch(/could not install Node .*integrity/i);
});

test("the launcher installs a Node whose bytes are those of the pinned hash", async () => {
  const said = await install((source) => source.replaceAll(/integrity: "sha512-[^"]+"/g, `integrity: "${hash}"`));
  expect(said).not.toMatch(/could not install/);
  // this one has no program
  expect(said).toContain("the Node from npm does not run on this machine");
});
