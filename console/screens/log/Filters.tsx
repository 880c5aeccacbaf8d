import { Link, useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { exportOf } from "../../api/events.ts";
import { EVENT_TYPES } from "../../format/describeEvent.ts";
import { wordChoices } from "../../parts/Choices.tsx";
import { SelectFilter } from "../../parts/Filter.tsx";
import { formText } from "../../parts/formText.ts";
import type { LogSearch } from "./search.ts";

const TYPES = wordChoices(EVENT_TYPES);

/** The filters of the log; they are part of the address. */
export function Filters({ search }: { search: LogSearch }) {
  const { stream, type, follow } = search;
  const navigate = useNavigate();
  const change = (part: LogSearch) =>
    void navigate({ to: "/log", replace: true, search: { stream, type, follow, ...part } });
  // a half-typed name of a stream would only be an error
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    change({ stream: formText(new FormData(event.currentTarget), "stream").trim() || undefined });
  };
  return (
    <search className="filters log-filters">
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
      <SelectFilter label="Type" value={type} choices={TYPES} onPick={(picked) => change({ type: picked })} />
      <label className="check">
        <input
          type="checkbox"
          checked={follow ?? false}
          onChange={({ target }) => change({ follow: target.checked || undefined })}
        />{" "}
        Follow live
      </label>
      <Link className="button" to="/log" search={{ ...search, verify: "all" }}>
        Verify the chain
      </Link>
      <a className="button" href={exportOf(search)} title="A file of JSON lines" download>
        Export
      </a>
    </search>
  );
}
