import { queryOptions } from "@tanstack/react-query";
import { listAllAgents, listAllWorkflows, listDefinitions } from "./build.ts";
import type { FoundThing } from "./find.ts";
import { listKeys } from "./keys.ts";
import { listCollections } from "./knowledge.ts";
import { listMembers } from "./members.ts";
import type { Page } from "./types.ts";

export interface NamedThing extends FoundThing {
  name: string;
}

const as =
  (kind: string) =>
  ({ data }: Page<{ id: string; name: string }>): NamedThing[] =>
    data.map(({ id, name }) => ({ kind, id, name }));

/** What has a name, of the first page of each list that the person may read. Lists that a screen has read are not read again. */
export const listNamed = ({ isBuilder, isAdmin }: { isBuilder: boolean; isAdmin: boolean }) =>
  queryOptions({
    queryKey: ["named", isBuilder, isAdmin],
    queryFn: async ({ client }) => {
      const lists = await Promise.all([
        client.fetchQuery(listAllAgents).then(as("agent")),
        client.fetchQuery(listCollections).then(as("collection")),
        client.fetchQuery(listAllWorkflows).then(as("workflow")),
        client.fetchQuery(listMembers()).then(as("user")),
        isBuilder ? client.fetchQuery(listDefinitions("workflow")).then(as("definition")) : [],
        isBuilder ? client.fetchQuery(listDefinitions("tool")).then(as("definition")) : [],
        isAdmin ? client.fetchQuery(listKeys()).then(as("key")) : [],
      ]);
      return lists.flat();
    },
    // the lists themselves say whether they are out of date
    staleTime: 0,
  });
