import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

const Id = z.object({ collection_id: z.uuid() });
/** Marks (see Keyring.mark) of what must be unique in an organization. */
const Claims = z.object({ slug_claim: z.string(), name_claim: z.string() });
const Named = z.object({ slug: z.string(), name: z.string(), description: z.string() });

export const CreateCollection = defineCommand(
  "CreateCollection",
  "collection",
  Id.extend(Claims.shape).extend(Named.shape),
);
/** What is left out stays. `name` comes with its claim. */
export const ChangeCollection = defineCommand(
  "ChangeCollection",
  "collection",
  Id.extend({ name: z.string().optional(), name_claim: z.string().optional(), description: z.string().optional() }),
);
export const DeleteCollection = defineCommand("DeleteCollection", "collection", Id);
/** Every document of a deleted collection is deleted as well. */
export const EmptyCollection = defineCommand("EmptyCollection", "collection", Id);

const thing = (data: { collection_id: string }) => streamOf("collection", data.collection_id);
export const CollectionCreated = defineEvent("CollectionCreated", {
  public: Id.extend(Claims.shape),
  personal: Named,
  thing,
  opens: true,
});
export const CollectionChanged = defineEvent("CollectionChanged", {
  /** A rename takes one claim and gives the other back. */
  public: Id.extend({ renamed: z.object({ claim: z.string(), released: z.string() }).nullable() }),
  personal: z.object({ name: z.string().optional(), description: z.string().optional() }),
  thing,
});
export const CollectionDeleted = defineEvent("CollectionDeleted", { public: Id.extend(Claims.shape) });
export const CollectionEmptied = defineEvent("CollectionEmptied", { public: Id });

export type CollectionCommand =
  | CommandFrom<typeof CreateCollection>
  | CommandFrom<typeof ChangeCollection>
  | CommandFrom<typeof DeleteCollection>
  | CommandFrom<typeof EmptyCollection>;
export type CollectionEvent =
  | EventFrom<typeof CollectionCreated>
  | EventFrom<typeof CollectionChanged>
  | EventFrom<typeof CollectionDeleted>
  | EventFrom<typeof CollectionEmptied>;
