import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { CANARY } from "../topology.ts";
import { different, type Finding } from "./finding.ts";

/** An issued API key, session token or webhook secret, or a canary. */
const SECRET = new RegExp(`(?:sk|sess|whsec)-svc-[A-Za-z0-9_-]{43}|${CANARY}[a-z0-9-]*`);

async function* filesBelow(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) yield join(entry.parentPath, entry.name);
}

/** What a process with every role writes for its operator alone. */
const CREDENTIALS = "credentials.json";

/** I14: no store and no log contains a secret in plain text. */
export async function checkSecrets(folders: string[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const folder of folders)
    for await (const file of filesBelow(folder)) {
      if (basename(file) === CREDENTIALS) continue;
      const [secret] = SECRET.exec((await readFile(file)).toString("latin1")) ?? [];
      if (secret) findings.push(different("I14", file, `holds ${secret.slice(0, 12)}… in the clear`));
    }
  return findings;
}
