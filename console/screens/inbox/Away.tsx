import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { getSubstitute, nameSubstitute, withdrawSubstitute } from "../../api/approvalPeople.ts";
import { whoAmI } from "../../api/queries.ts";
import { formText } from "../../parts/formText.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";
import { nameOf } from "./nameOf.ts";
import { PersonField } from "./PersonField.tsx";
import { FocusableButton } from "../../parts/FocusableButton.tsx";

/** A day of the browser's time zone: its beginning, or the beginning of the next one. */
const toTime = (day: string, after = 0): string => {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + after).toISOString();
};

function SubstituteForm({ person }: { person: string }) {
  const queries = useQueryClient();
  const { data: current } = useQuery(getSubstitute(person));
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ["organization", "substitute"] }) };
  const name = useMutation({
    mutationFn: (body: Parameters<typeof nameSubstitute>[1]) => nameSubstitute(person, body),
    ...settled,
  });
  const withdraw = useMutation({ mutationFn: () => withdrawSubstitute(person), ...settled });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [from, until] = [toTime(formText(form, "from")), toTime(formText(form, "until"), 1)];
    name.mutate({ substitute: formText(form, "substitute"), from, until });
  };
  const error = name.error ?? withdraw.error;
  return (
    <details>
      <summary>
        {current?.substitute && current.from && current.until ? (
          <>
            {nameOf(current.substitute)} decides for you from <Time at={current.from} /> until{" "}
            <Time at={current.until} />
          </>
        ) : (
          "Away for a while?"
        )}
      </summary>
      <form className="decision" onSubmit={submit}>
        <p className="quiet">Your substitute sees and may decide what waits for you, in your place.</p>
        {error && <ErrorNotice error={error} />}
        <PersonField name="substitute" label="Substitute" />
        <label>
          First day <input type="date" name="from" required />
        </label>
        <label>
          Last day <input type="date" name="until" required />
        </label>
        <FocusableButton type="submit" className="button" isOff={name.isPending}>
          Name the substitute
        </FocusableButton>
        {current?.substitute && (
          <FocusableButton
            type="button"
            className="button"
            isOff={withdraw.isPending}
            onClick={() => withdraw.mutate()}
          >
            Withdraw the substitute
          </FocusableButton>
        )}
      </form>
    </details>
  );
}

/** Who decides for the person who is signed in. */
export function Away() {
  const { data: me } = useQuery(whoAmI);
  return me && me.user.role !== "viewer" ? <SubstituteForm person={me.user.id} /> : null;
}
