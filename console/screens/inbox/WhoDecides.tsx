import { useQuery } from "@tanstack/react-query";
import { listAllMembers } from "../../api/members.ts";
import { getSession } from "../../api/queries.ts";
import type { Approval } from "../../api/types.ts";
import { useRole } from "../../api/useRole.ts";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { nameDeciders } from "./deciders.ts";

/** Replaces the form for people who may not decide or have voted. */
export function WhoDecides({ approval }: { approval: Approval }) {
  const { data: me } = useQuery(getSession);
  const { data: members, error, refetch } = useQuery(listAllMembers);
  const { mayWrite } = useRole();
  if (error && !members) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!me || !members) return null;
  const hasVoted = approval.votes.some(({ by, in_place_of }) => [by.id, in_place_of?.id].includes(me.user.id));
  // approvals without assignees can be decided by every sufficient role, except by the person who asked
  const others = mayWrite ? "somebody else whose role suffices" : "approvers, builders, administrators or owners";
  return (
    <p className="notice plain">
      {hasVoted && "You have voted. "}This is for {nameDeciders(approval, members.data) ?? others} to decide.
    </p>
  );
}
