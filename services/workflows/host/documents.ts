import { createHash } from "node:crypto";
import { ChangeDocument, DeleteDocument } from "#events/document.ts";
import { contentClaim, externalClaim } from "#events/documentClaims.ts";
import { newCommand } from "#events/envelope.ts";
import { changedDescription, type PushedDescription } from "#events/documentDetails.ts";
import { claimStream, deriveId, parseStreamName, streamName } from "#events/ids.ts";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import type { EventLog } from "#events/ports.ts";
import type { Keyring } from "#events/vault.ts";
import { document } from "../../deciders/document.ts";
import { storedDocument, type DocumentState } from "../../deciders/documentState.ts";
import { readDescription } from "../../knowledge/describeDocument.ts";
import { storeContent, type StoreContentDeps } from "../../knowledge/storeContent.ts";
import { findHead, readState } from "../../states.ts";
import type { CallInput } from "../stepInputs.ts";
import { StepFailure } from "../tick.ts";
import type { Collections } from "./collections.ts";
import type { FileDeps } from "./files.ts";
import { invalidInput } from "./input.ts";
import type { HostCall } from "./step.ts";

/* Documents that steps write. */

const TIMEOUT_MS = 10_000;

export interface DocumentDeps extends Omit<StoreContentDeps, "admit">, Pick<FileDeps, "admitContent"> {
  log: Pick<EventLog, "heads" | "read" | "pages" | "readNewest">;
  keyring: Pick<Keyring, "keyedHash">;
  collections: Collections;
}

const notWritable = (field: string, slug: string): StepFailure =>
  new StepFailure(
    "collection_not_allowed",
    `${field}: the collection ${slug} is not in the workflow's envelope.writable_collections.`,
    { final: true },
  );

/** Finds a collection by slug or display name, and checks that the step may write to it. Throws StepFailure. */
async function requireWritable(
  { collections }: DocumentDeps,
  { step, permissions }: HostCall,
  { name, field }: { name: string; field: string },
): Promise<string> {
  const { found, unknown } = await collections.resolve(step.organization_id, [name]);
  const [collection] = found;
  if (unknown.length > 0 || !collection)
    throw invalidInput(`${field}: there is no collection ${JSON.stringify(name)}.`);
  const { writable_collections = [] } = permissions.envelope;
  if (!writable_collections.includes("*") && !writable_collections.includes(collection.slug))
    throw notWritable(field, collection.slug);
  return collection.id;
}

/** Finds a document by the caller's own id. */
async function findExternal(log: DocumentDeps["log"], external_claim: string): Promise<string | undefined> {
  const claim = claimStream(`external:${external_claim}`);
  const holder = (await findHead(log, claim))?.state;
  return typeof holder === "string" ? parseStreamName(holder).id : undefined;
}

interface PushedDocument {
  document_id: string;
  result: "created" | "replaced" | "unchanged";
}

/** The document that a pushed text becomes. */
function readPush(keyring: DocumentDeps["keyring"], collection_id: string, input: CallInput<"push">) {
  const bytes = Buffer.from(input.text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const external_id = input.external_id ?? null;
  const external_claim = external_id === null ? null : externalClaim(keyring, collection_id, external_id);
  const sent = {
    name: input.name ?? undefined,
    tags: input.tags ?? undefined,
    metadata: input.metadata ?? undefined,
  };
  const about = {
    name: input.name ?? (input.format === "text" ? "text.txt" : "text.md"),
    tags: input.tags ?? [],
    ...(input.metadata && { metadata: input.metadata }),
  };
  const content = {
    bytes,
    mime_type: input.format === "text" ? MEDIA_TYPES.txt : MEDIA_TYPES.md,
    sha256,
    original: "text" as const,
    content_claim: contentClaim(keyring, collection_id, sha256, external_id),
  };
  return { content, sent, about, placed: { collection_id, source: "api", external_id, external_claim, ...about } };
}

/** Updates the details of a document whose text is unchanged. */
async function applySent(
  deps: DocumentDeps,
  { step }: HostCall,
  document_id: string,
  sent: Partial<PushedDescription>,
) {
  const stream = streamName("document", document_id);
  const recorded = await readDescription(deps.log, stream);
  const changed = recorded && changedDescription(sent, recorded);
  if (!changed) return;
  const { organization_id, run_id: request_id } = step;
  const data = { document_id, ...changed };
  await deps.handle(
    newCommand(ChangeDocument.type, { stream, organization_id, request_id, timeout_ms: TIMEOUT_MS, data }),
  );
}

/**
 * Pushes text, like `POST …/documents/text`. Without `external_id`, the document's id derives from the call, so that all attempts
 * of the step address the same document.
 */
export async function push(deps: DocumentDeps, hostCall: HostCall, input: CallInput<"push">): Promise<PushedDocument> {
  const { step, call } = hostCall;
  const collection_id = await requireWritable(deps, hostCall, { name: input.collection, field: "push: collection" });
  const pushed = readPush(deps.keyring, collection_id, input);
  const { external_claim } = pushed.placed;
  const known = external_claim === null ? undefined : await findExternal(deps.log, external_claim);
  const document_id = known ?? deriveId("document of a step", step.run_id, step.key, ...call);
  const result = await storePush(deps, hostCall, document_id, pushed);
  if (typeof result === "string") return { document_id, result };
  // another document has the same text
  if (external_claim === null) {
    const unchanged = await storePush(deps, hostCall, result.held_by, pushed);
    if (typeof unchanged === "string") return { document_id: result.held_by, result: unchanged };
  }
  throw new StepFailure(
    "step_error",
    "push: external_id: another request pushes it at this moment; a retry will work.",
  );
}

/** Stores a push as this document. `held_by`: another document has the content, or has just taken the external id. */
async function storePush(
  deps: DocumentDeps,
  hostCall: HostCall,
  document_id: string,
  { content, sent, about, placed }: ReturnType<typeof readPush>,
): Promise<PushedDocument["result"] | { held_by: string }> {
  const { organization_id, run_id: request_id, project_id } = hostCall.step;
  const stored = await storeContent(
    { ...deps, admit: (added) => deps.admitContent(hostCall.step, added) },
    { document_id, organization_id, request_id, ...content, ...(project_id !== null && { project_id }) },
    { created: () => placed, replaced: () => about },
  );
  if ("refused" in stored) throw new StepFailure("step_error", `push: ${stored.refused}`);
  const { position, isNew, rejection } = stored;
  if (rejection?.held_by !== undefined) return { held_by: parseStreamName(rejection.held_by).id };
  // an earlier attempt created it, and somebody has deleted it since
  if (rejection?.code === "document_exists") return "unchanged";
  if (rejection) throw new StepFailure("step_error", `push: ${rejection.message}`);
  if (position > 0) return isNew ? "created" : "replaced";
  await applySent(deps, hostCall, document_id, sent);
  return "unchanged";
}

async function findRemoved(deps: DocumentDeps, hostCall: HostCall, input: CallInput<"remove">) {
  if (input.document_id != null) return input.document_id;
  const named = { name: input.collection!, field: "remove: collection" };
  const collection_id = await requireWritable(deps, hostCall, named);
  return findExternal(deps.log, externalClaim(deps.keyring, collection_id, input.external_id!));
}

/**
 * Deletes a document of a collection that the workflow may write to. A missing document is no error, because an earlier attempt may
 * have deleted it.
 */
export async function remove(
  deps: DocumentDeps,
  hostCall: HostCall,
  input: CallInput<"remove">,
): Promise<{ document_id: string | null; removed: boolean }> {
  const { organization_id, run_id } = hostCall.step;
  const document_id = await findRemoved(deps, hostCall, input);
  if (document_id === undefined) return { document_id: null, removed: false };
  const stream = streamName("document", document_id);
  const head = await findHead(deps.log, stream);
  const isOwn = head?.organization_id === organization_id;
  const state: DocumentState = isOwn ? (await readState(deps.log, head, document)).state : document.initial;
  const found = storedDocument(state);
  if (!found) return { document_id, removed: false };
  await requireWritableId(deps, hostCall, found.collection_id);
  const { rejection } = await deps.handle(
    newCommand(DeleteDocument.type, {
      stream,
      organization_id,
      request_id: run_id,
      timeout_ms: TIMEOUT_MS,
      data: { document_id },
    }),
  );
  if (rejection && rejection.code !== "not_found") throw new StepFailure("step_error", `remove: ${rejection.message}`);
  return { document_id, removed: !rejection };
}

/** Documents of collections that the workflow may not write to do not exist for it. */
async function requireWritableId({ collections }: DocumentDeps, { step, permissions }: HostCall, id: string) {
  const { writable_collections = [] } = permissions.envelope;
  if (writable_collections.includes("*")) return;
  const { found } = await collections.resolve(step.organization_id, writable_collections);
  if (!found.some((collection) => collection.id === id))
    throw new StepFailure(
      "collection_not_allowed",
      "remove: document_id: its collection is not in the workflow's envelope.writable_collections.",
      { final: true },
    );
}
