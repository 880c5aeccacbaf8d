import { useQuery } from "@tanstack/react-query";
import { listAgents } from "../../api/nameLists.ts";
import { listModels } from "../../api/requests.ts";
import { TURN_STATUSES } from "../../api/types.ts";
import { useRole } from "../../api/useRole.ts";
import { readChoice } from "../../app/search.ts";
import { shortId } from "../../format/index.ts";
import { namedChoices, statusChoices, wordChoices } from "../../parts/Choices.tsx";
import { InputFilter, SelectFilter } from "../../parts/Filter.tsx";
import { FilterChip } from "../../parts/FilterChip.tsx";
import { Filters as Fold } from "../../parts/Filters.tsx";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { PrincipalFilter } from "../../parts/PrincipalFilter.tsx";
import type { RequestSearch } from "./filter.ts";

/** The filters of the list, which are part of the address. */
export function Filters({ search }: { search: RequestSearch }) {
  const navigate = useFilterNavigate();
  const agents = useQuery(listAgents);
  const models = useQuery(listModels);
  const { isBuilder } = useRole();
  const change = (part: RequestSearch) =>
    void navigate({ to: "/requests", replace: true, search: { ...search, after: undefined, ...part } });
  const { status, who, model, agent, thread, user, q, words, from: after, to: before } = search;
  return (
    <Fold className="request-filters" values={[words, status, who, model, agent, thread, user, q, after, before]}>
      <InputFilter
        label="Words of the question"
        type="search"
        isFirst
        value={words}
        onChange={(words) => change({ words })}
      />
      <SelectFilter
        label="Status"
        value={search.status}
        choices={statusChoices(TURN_STATUSES)}
        onPick={(status) => change({ status: readChoice(status, TURN_STATUSES) })}
      />
      {isBuilder && <PrincipalFilter label="Asked by" value={search.who} onPick={(who) => change({ who })} />}
      <SelectFilter
        label="Model"
        value={search.model}
        choices={wordChoices((models.data?.data ?? []).map(({ id }) => id))}
        onPick={(model) => change({ model })}
      />
      <SelectFilter
        label="Agent"
        value={search.agent}
        choices={namedChoices(agents.data, "agents")}
        onPick={(agent) => change({ agent })}
      />
      <InputFilter label="Text of the error" type="search" value={search.q} onChange={(q) => change({ q })} />
      <InputFilter label="From" type="date" value={search.from} onChange={(from) => change({ from })} />
      <InputFilter label="To" type="date" value={search.to} onChange={(to) => change({ to })} />
      {user && (
        <FilterChip filter="for this end user" onRemove={() => change({ user: undefined })}>
          Of the end user {user}
        </FilterChip>
      )}
      {thread && (
        <FilterChip filter="for this conversation" onRemove={() => change({ thread: undefined })}>
          Of the conversation <span className="mono">{shortId(thread)}</span>
        </FilterChip>
      )}
    </Fold>
  );
}
