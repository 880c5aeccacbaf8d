import type { Operation, OperationKind } from "../journal.ts";
import { type Evidence, grouped } from "./evidence.ts";
import { different, lost, type Finding } from "./finding.ts";

/* I16: a read shows everything that was acknowledged before it started, and nothing that was removed before. */

const THING: Partial<Record<OperationKind, string>> = {
  "thread.read": "thread",
  "thread.delete": "thread",
  "file.read": "file_id",
  "file.delete": "file_id",
};

/** The state of a thing's removal at the time of a read. */
function removal(deletions: Operation[], read: Operation): "none" | "perhaps" | "done" {
  const [first] = deletions;
  if (!first || first.start > read.end) return "none";
  return first.outcome === "done" && first.end < read.start ? "done" : "perhaps";
}

function checkThread(read: Operation, turns: Operation[], deletions: Operation[]): Finding[] {
  const gone = removal(deletions, read);
  if (read.outcome === "done" && gone === "done") return [different("I16", read, "shows a thread that was deleted")];
  if (gone !== "none" || read.outcome === "unknown") return [];
  const before = turns.filter((turn) => turn.end < read.start);
  if (read.outcome === "refused")
    return before.length > 0
      ? [lost("I16", read, `${read.code} for a thread with ${before.length} answered turns`)]
      : [];
  const words = (read.got["messages"] as { role: string; content: string }[]).map(({ content }) => content);
  return before
    .filter(({ got }) => !words.includes(got["text"]))
    .map((turn) => lost("I16", read, `the answer of ${turn.id} is not shown`));
}

function checkFile(read: Operation, uploads: Operation[], deletions: Operation[]): Finding[] {
  const gone = removal(deletions, read);
  if (read.outcome === "done" && gone === "done") return [different("I16", read, "shows a file that was deleted")];
  const uploaded = uploads.find(({ got }) => got["file_id"] === read.asked["file_id"])!;
  if (read.outcome === "done" && read.got["sha256"] !== uploaded.asked["sha256"])
    return [different("I12", read, "the bytes are not those that were uploaded")];
  if (gone === "none" && read.outcome === "refused") return [lost("I16", read, `${read.code} for an uploaded file`)];
  return [];
}

function checkList(list: Operation, uploads: Operation[], deletions: Map<string, Operation[]>): Finding[] {
  const shown = new Set(list.got["files"] as string[]);
  // a full page may not contain all of them
  if (list.outcome !== "done" || shown.size >= 100) return [];
  return uploads
    .filter(({ client, end }) => client >> 1 === list.client >> 1 && end < list.start)
    .flatMap(({ got: { file_id } }) => {
      const gone = removal(deletions.get(file_id) ?? [], list);
      if (gone === "none" && !shown.has(file_id)) return [lost("I16", list, `${file_id} is not listed`)];
      if (gone === "done" && shown.has(file_id))
        return [different("I16", list, `${file_id} is listed after it was deleted`)];
      return [];
    });
}

export function checkReads({ operations }: Evidence): Finding[] {
  const of = (what: OperationKind) => operations.filter((operation) => operation.what === what);
  const thing = (operation: Operation) => String(operation.asked[THING[operation.what]!]);
  const turns = grouped(
    of("chat").filter(({ outcome, asked }) => outcome === "done" && !asked["leaves"]),
    ({ got }) => got["thread_id"],
  );
  const uploads = of("file.upload").filter(({ outcome }) => outcome === "done");
  const threadsGone = grouped(of("thread.delete"), thing);
  const filesGone = grouped(of("file.delete"), thing);
  return [
    ...of("thread.read").flatMap((read) =>
      checkThread(read, turns.get(thing(read)) ?? [], threadsGone.get(thing(read)) ?? []),
    ),
    ...of("file.read").flatMap((read) => checkFile(read, uploads, filesGone.get(thing(read)) ?? [])),
    ...of("file.list").flatMap((list) => checkList(list, uploads, filesGone)),
  ];
}
