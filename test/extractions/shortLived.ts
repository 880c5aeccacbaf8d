import { createHash } from "node:crypto";
import { expect } from "vitest";
import { RequestExtraction } from "#events/extraction.ts";
import { newCommandId, newId, streamOf } from "#events/ids.ts";
import { types } from "#events/mediaTypes.ts";
import type { startPlatform } from "../platform.ts";

interface Owner {
  opened: Awaited<ReturnType<typeof startPlatform>>["opened"];
  organization_id: string;
}

/** An extraction as http would ask for it where `text` was sent, but one that lives for `ms` only. */
export async function shortLived(
  { opened: { bus, log, keyring, blobs }, organization_id }: Owner,
  ms: number,
  text: string,
  type: "md" | "csv" = "md",
) {
  const id = newId();
  const stream = streamOf("extraction", id);
  const folder = `${organization_id}/${stream}`;
  const wrapped = keyring.create(stream);
  const sha256 = createHash("sha256").update(text).digest("hex");
  const expires_at = new Date(Date.now() + ms);
  const answer = await bus.sender(log).send({
    id: newCommandId(),
    type: RequestExtraction.type,
    stream,
    organization_id,
    principal: "system",
    at: new Date().toISOString(),
    deadline: new Date(Date.now() + 30_000).toISOString(),
    request_id: "test",
    keys: { [stream]: wrapped },
    data: {
      extraction_id: id,
      mime_type: types[type],
      size_bytes: Buffer.byteLength(text),
      blob: await blobs.put(folder, keyring.seal(stream, wrapped, Buffer.from(text))),
      content_claim: keyring.mark("extraction", [organization_id, sha256, types[type]].join("\n")),
      expires_at: expires_at.toISOString(),
      name: `moment.${type}`,
      sha256,
    },
  });
  expect(answer.rejection).toBeUndefined();
  return { id, folder, expires_at };
}
