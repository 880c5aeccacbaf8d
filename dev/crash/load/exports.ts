import { createHash } from "node:crypto";
import { perform, type Action } from "./session.ts";

interface Line {
  type: string;
  id: string;
  sha256: string;
  [field: string]: any;
}

/** The content of a complete export; only `complete: false` if its last line is missing. */
function readExport(text: string) {
  const lines = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
  const end = lines.at(-1);
  if (end?.type !== "end") return { complete: false };
  const of = (type: string) => lines.filter((line) => line.type === type);
  const counts: Record<string, number> = {};
  for (const { type } of lines.slice(1, -1)) counts[type] = (counts[type] ?? 0) + 1;
  const contents = Object.entries(Object.groupBy(of("content"), ({ sha256 }) => sha256)).map(([sha256, parts]) => {
    const hash = createHash("sha256");
    for (const { base64 } of parts!) hash.update(Buffer.from(base64, "base64"));
    return { named: sha256, sent: hash.digest("hex") };
  });
  return {
    complete: true,
    counts,
    announced: end["counts"],
    threads: of("thread").map(({ id }) => id),
    turns: of("turn").map(({ id, output }) => ({ id, text: output?.text ?? null })),
    files: of("file").map(({ id, sha256 }) => ({ id, sha256 })),
    contents,
  };
}

/** Exports everything about the end user of this client and its partner. */
export async function exportUser(action: Action, token: string): Promise<void> {
  const { user } = action.session;
  await perform(action, {
    what: "export.read",
    asked: { user },
    wanted: { method: "GET", path: `/api/exports?subject=${encodeURIComponent(`user:${user}`)}`, token },
    read: ({ text }) => readExport(text),
  });
}
