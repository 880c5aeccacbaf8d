import type { FormEvent } from "react";
import { EVENT_TYPES } from "../../format/describeEvent.ts";
import { wordChoices } from "../../parts/Choices.tsx";
import { SelectFilter } from "../../parts/Filter.tsx";
import { Filters as Fold } from "../../parts/Filters.tsx";
import { formText } from "../../parts/formText.ts";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { WhoFilter } from "../../parts/WhoFilter.tsx";
import type { LogSearch } from "./search.ts";

const TYPES = wordChoices(EVENT_TYPES);

/** The filters of the log; they are part of the address. */
export function Filters({ search }: { search: LogSearch }) {
  const { stream, type, who, follow } = search;
  const navigate = useFilterNavigate();
  const change = (part: LogSearch) =>
    void navigate({ to: "/log", replace: true, search: { stream, type, who, follow, ...part } });
  // a half-typed name of a stream would only be an error
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    change({ stream: formText(new FormData(event.currentTarget), "stream").trim() || undefined });
  };
  return (
    <Fold className="log-filters" values={[stream, type, who, follow]}>
      <form onSubmit={submit}>
        <label>
          Stream
          <input
            key={stream}
            name="stream"
            type="search"
            defaultValue={stream}
            placeholder="run-0198… and Enter"
            data-filter
          />
        </label>
      </form>
      <WhoFilter label="Caused by" value={who} onPick={(picked) => change({ who: picked })} />
      <SelectFilter label="Type" value={type} choices={TYPES} onPick={(picked) => change({ type: picked })} />
      <label className="check">
        <input
          type="checkbox"
          checked={follow ?? false}
          onChange={({ target }) => change({ follow: target.checked || undefined })}
        />{" "}
        Follow live
      </label>
    </Fold>
  );
}
