import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";

const Id = z.object({ collection_id: z.uuid() });
/** Keyed hashes (see Keyring.keyedHash) of the slug and the name, which must be unique in an organization. */
const Claims = z.object({ slug_claim: z.string(), name_claim: z.string() });
const Personal = z.object({ slug: z.string(), name: z.string(), description: z.string() });

export const CreateCollection = defineCommand(
  "CreateCollection",
  "collection",
  Id.extend(Claims.shape).extend(Personal.shape),
);
/** Omitted fields keep their value. `name` requires `name_claim`. */
export const ChangeCollection = defineCommand(
  "ChangeCollection",
  "collection",
  Id.extend({ name: z.string().optional(), name_claim: z.string().optional(), description: z.string().optional() }),
);
export const DeleteCollection = defineCommand("DeleteCollection", "collection", Id);
/** Records that every document of a deleted collection is deleted. */
export const EmptyCollection = defineCommand("EmptyCollection", "collection", Id);

const thing = (data: { collection_id: string }) => streamName("collection", data.collection_id);
export const CollectionCreated = defineEvent("CollectionCreated", {
  public: Id.extend(Claims.shape),
  personal: Personal,
  thing,
  opens: true,
});
export const CollectionChanged = defineEvent("CollectionChanged", {
  /** A rename holds a new claim and releases the previous one. */
  public: Id.extend({ renamed: z.object({ claim: z.string(), released: z.string() }).nullable() }),
  personal: z.object({ name: z.string().optional(), description: z.string().optional() }),
  thing,
});
export const CollectionDeleted = defineEvent("CollectionDeleted", { public: Id.extend(Claims.shape) });
export const CollectionEmptied = defineEvent("CollectionEmptied", { public: Id });

export type CollectionCommand = CommandsIn<typeof import("./collection.ts")>;
export type CollectionEvent = EventsIn<typeof import("./collection.ts")>;
