import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { delegateApproval } from "../../api/approvalPeople.ts";
import type { Approval } from "../../api/types.ts";
import { formText } from "../../parts/formText.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";
import { nameOf } from "./nameOf.ts";
import { PersonField } from "./PersonField.tsx";
import { FocusableButton } from "../../parts/FocusableButton.tsx";

/** Who handed the approval on to whom. */
export function Delegations({ approval: { delegations } }: { approval: Approval }) {
  if (delegations.length === 0) return null;
  return (
    <ul className="plain" aria-label="Delegations">
      {delegations.map(({ by, to, reason, at }) => (
        <li key={at}>
          {nameOf(by)} delegated it to {nameOf(to)} <Time at={at} />: “{reason}”
        </li>
      ))}
    </ul>
  );
}

/** Hands the approval on to somebody else. */
export function Delegate({ approval }: { approval: Approval }) {
  const queries = useQueryClient();
  const delegate = useMutation({
    mutationFn: (body: Parameters<typeof delegateApproval>[1]) => delegateApproval(approval.id, body),
    onSettled: () => queries.invalidateQueries({ queryKey: ["run"] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    delegate.mutate({ to: formText(form, "to"), reason: formText(form, "reason") });
  };
  return (
    <details>
      <summary>Delegate</summary>
      <form className="decision" onSubmit={submit}>
        <p className="quiet">The other person decides instead of you, and sees your reason.</p>
        {delegate.isError && <ErrorNotice error={delegate.error} />}
        <PersonField name="to" label="To" />
        <label>
          Why
          <input name="reason" required maxLength={1_000} autoComplete="off" />
        </label>
        <FocusableButton type="submit" className="button" isOff={delegate.isPending}>
          Delegate it
        </FocusableButton>
      </form>
    </details>
  );
}
