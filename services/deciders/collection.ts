import {
  CollectionChanged,
  CollectionCreated,
  CollectionDeleted,
  CollectionEmptied,
  type CollectionCommand,
  type CollectionEvent,
} from "#events/collection.ts";
import type { Claim, Decider } from "#events/decider.ts";
import { Rejection } from "#events/rejection.ts";
import { eraseOn } from "./keyErasure.ts";

export type CollectionState =
  | { status: "absent" }
  | { status: "standing"; slug_claim: string; name_claim: string }
  /** Invisible to all readers while its documents are being deleted. */
  | { status: "deleted" }
  | { status: "emptied" };

const nameTaken: Claim["rejection"] = {
  code: "collection_exists",
  message: "Another collection has this name.",
  param: "name",
};
/** A slug stays after a rename, so the collection that holds it may have another name. */
const slugTaken = { ...nameTaken, message: "Another collection has the slug of this name; choose another name." };
const slugName = (claim: string) => `slug:${claim}`;
const displayName = (claim: string) => `name:${claim}`;

function requireExisting(state: CollectionState) {
  if (state.status !== "standing") throw new Rejection("collection_not_found", "No such collection.");
  return state;
}

export const collection: Decider<CollectionState, CollectionCommand, CollectionEvent> = {
  version: 1,
  initial: { status: "absent" },

  decide(command, state) {
    const { collection_id } = command.data;
    switch (command.type) {
      case "CreateCollection": {
        if (state.status !== "absent") throw new Rejection(nameTaken.code, nameTaken.message);
        const { slug_claim, name_claim, slug, name, description } = command.data;
        return [CollectionCreated.of({ collection_id, slug_claim, name_claim }, { slug, name, description })];
      }
      case "ChangeCollection": {
        const before = requireExisting(state);
        const { name, name_claim: claim, description } = command.data;
        if (name === undefined && description === undefined) return [];
        const renamed = claim && claim !== before.name_claim ? { claim, released: before.name_claim } : null;
        const changed = {
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
        };
        return [CollectionChanged.of({ collection_id, renamed }, changed)];
      }
      case "DeleteCollection": {
        const { slug_claim, name_claim } = requireExisting(state);
        return [CollectionDeleted.of({ collection_id, slug_claim, name_claim })];
      }
      case "EmptyCollection":
        return state.status === "deleted" ? [CollectionEmptied.of({ collection_id })] : [];
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case "CollectionCreated":
        return { status: "standing", slug_claim: event.data.slug_claim, name_claim: event.data.name_claim };
      case "CollectionChanged":
        if (state.status !== "standing" || !event.data.renamed) return state;
        return { ...state, name_claim: event.data.renamed.claim };
      case "CollectionDeleted":
        return { status: "deleted" };
      case "CollectionEmptied":
        return { status: "emptied" };
    }
  },

  workStatus: (state) => ({ status: state.status === "deleted" ? "deleting" : null, due_at: null, worker: null }),

  erases: eraseOn("CollectionDeleted"),

  claims: (events) => ({
    hold: events.flatMap((event) => {
      if (event.type === "CollectionCreated")
        return [
          { name: displayName(event.data.name_claim), rejection: nameTaken },
          { name: slugName(event.data.slug_claim), rejection: slugTaken },
        ];
      if (event.type === "CollectionChanged" && event.data.renamed)
        return [{ name: displayName(event.data.renamed.claim), rejection: nameTaken }];
      return [];
    }),
    release: events.flatMap((event) => {
      if (event.type === "CollectionDeleted")
        return [slugName(event.data.slug_claim), displayName(event.data.name_claim)];
      if (event.type === "CollectionChanged" && event.data.renamed) return [displayName(event.data.renamed.released)];
      return [];
    }),
  }),
};
