import { openIndexRegistry } from "#infra/postgres/indexRegistry.ts";
import { createHandler } from "#services/handle.ts";
import { followPassages, type FollowDeps } from "#services/knowledge/indexing/followPassages.ts";
import type { PassageIndex } from "#services/knowledge/passageIndex.ts";
import { openThingBlobs } from "#services/thingBlobs.ts";
import { encodePassages } from "#services/reading/passageLines.ts";
import { sendTo } from "#services/send.ts";
import { startPlatform } from "../platform.ts";
import { openKnowledge, searchServer } from "./documents.ts";

/** A follower of the passage index whose dependencies a test can replace. Documents are read by calling `read`. */
export async function followerBench(meddle: (index: PassageIndex) => Partial<FollowDeps> = () => ({})) {
  const { resources: opened } = await startPlatform({ roles: ["projections"] });
  const { log, bus, vault, pool, settings } = opened;
  const handle = createHandler({ log, hints: bus.hints, worker: () => undefined, afterCommit: () => {} });
  const send = sendTo(handle, "bench");
  const knowledge = openKnowledge(opened, { handle });
  const index = searchServer(opened);
  const errors: unknown[] = [];
  const deps: FollowDeps = {
    vault,
    log,
    hints: bus.hints,
    index,
    registry: openIndexRegistry(pool),
    prefix: settings.BUS_PREFIX,
    send,
    onError: (error) => void errors.push(error),
    failpoint: () => {},
    ...meddle(index),
  };
  /** Uploads a document and records its text. `named` has the keys of its blobs. */
  async function read(text: string, owner = knowledge) {
    const { document_id, stream } = await owner.upload(text);
    const target = { stream, organization_id: owner.organization_id };
    const work = { document_id, generation: 1, attempt: 1 };
    await send(target, "StartReading", { ...work, worker: "bench" });
    const its = (await openThingBlobs({ vault }, target))!;
    const passage = { seq: 0, page: null, section: null, start: 0, end: text.length, lead: "" };
    const cut = encodePassages({ page_count: null, pages: null }, [passage]);
    const named = { text: await its.put(Buffer.from(text)), passages: await its.put(cut) };
    await send(target, "RecordText", { ...work, ...named, page_count: null, chunk_count: 1, characters: text.length });
    return { document_id, stream, named };
  }
  let stopping = new AbortController();
  /** Each call is a new process, which knows nothing of those before. */
  function follow(): Promise<void> {
    stopping = new AbortController();
    return followPassages(deps, stopping.signal);
  }
  const openOther = () => openKnowledge(opened, { handle });
  return { opened, index, errors, knowledge, openOther, read, follow, stop: () => stopping.abort() };
}
