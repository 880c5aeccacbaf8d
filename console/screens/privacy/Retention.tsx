import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RETAINED_KINDS, listRetention, removeRetention, type Retention as Rules } from "../../api/privacy.ts";
import { listProjects } from "../../api/settings.ts";
import { formatCount, formatNumber } from "../../format/index.ts";
import { kindWord } from "../../format/kindWord.ts";
import type { Action } from "../../parts/action.ts";
import { listedChoices } from "../../parts/Choices.tsx";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { removalColumn } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { useChange } from "../../parts/useChange.ts";
import { RetentionForm } from "./RetentionForm.tsx";

/** "30 days" for `30d`. */
const days = (kept: string): string => formatCount(Number.parseInt(kept), "day");

const columns = (name: (subject: string) => string, removal: Action<string>): Columns<Rules> => [
  {
    title: "Of",
    cell: ({ subject }) => (
      <Link to="/privacy" search={{ subject }} data-row>
        {name(subject)}
      </Link>
    ),
  },
  {
    title: "Kept for",
    cell: (rules) => (
      <ul className="plain">
        {RETAINED_KINDS.map((kind) => {
          const kept = rules[kind];
          return kept === null ? null : (
            <li key={kind}>
              {kindWord(kind)}: {days(kept)}
            </li>
          );
        })}
      </ul>
    ),
  },
  {
    title: "Deleted so far",
    cell: ({ deleted }) =>
      RETAINED_KINDS.map((kind) => `${formatNumber(deleted[kind])} ${kindWord(kind, deleted[kind])}`).join(", "),
  },
  { title: "Next round", cell: ({ next_round_at }) => <Time at={next_round_at} /> },
  removalColumn<Rules>(removal, ({ subject }) => ({
    id: subject,
    about: name(subject),
    question: `Remove the rules of “${name(subject)}”? What is not deleted yet is kept then.`,
  })),
];

/** The retention rules. */
export function Retention({ edit }: { edit: string | undefined }) {
  const rules = useQuery(listRetention);
  const projects = useQuery(listProjects);
  const removal = useChange("retention", removeRetention);
  const subjects = [
    { value: "organization", label: "The organization" },
    ...listedChoices(projects.data, "projects", ({ id, name }) => ({ value: `project:${id}`, label: name })),
  ];
  const name = (subject: string) => subjects.find(({ value }) => value === subject)?.label ?? subject;
  return (
    <QueryResult query={rules} what="retention rules">
      {({ data }) => {
        const edited = data.find(({ subject }) => subject === edit);
        return (
          <>
            {removal.isError && <ErrorNotice error={removal.error} />}
            {data.length === 0 ? (
              <EmptyState title="Everything is kept until somebody deletes it">
                <ol>
                  <li>Say below for how many days conversations, requests, files, documents and runs are kept.</li>
                  <li>Look at the preview: it counts what would go at once.</li>
                  <li>A hold keeps what is too old; a workflow may keep its runs for a shorter time.</li>
                </ol>
              </EmptyState>
            ) : (
              <Table
                caption="Retention rules"
                columns={columns(name, removal)}
                rows={data}
                rowKey={({ subject }) => subject}
              />
            )}
            <RetentionForm key={edited?.subject} rules={edited} name={name} subjects={subjects} />
          </>
        );
      }}
    </QueryResult>
  );
}
