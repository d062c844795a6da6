// Comments on changes and reviews of the mock server. Answers appear when the loop of a review has ended.

const now = () => new Date().toISOString();

/** `statusOf` returns the status of a loop. */
export function reviewStore({ me, statusOf }) {
  const drafts = [];
  const reviews = [];
  const commit = "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade";
  const answerTo = (number) =>
    number % 2 === 1
      ? { status: "done", note: "The limit has a name.", commit }
      : { status: "declined", reason: "The export still uses it." };

  const view = () => ({
    drafts,
    reviews: reviews.map(({ loopId, comments, ...review }) => {
      const loopStatus = loopId ? statusOf(loopId) : null;
      const hasAnswers = loopStatus === "COMPLETED";
      return {
        ...review,
        loopId,
        loopStatus,
        comments: comments.map((comment) => ({
          ...comment,
          answer: hasAnswers ? answerTo(comment.number) : null,
        })),
      };
    }),
  });

  /** Returns the stored comment; `undefined` if it was already sent. */
  const store = (id, comment) => {
    if (reviews.some(({ comments }) => comments.some((sent) => sent.id === id))) return undefined;
    const draft = { id, ...comment, createdAt: now() };
    const index = drafts.findIndex((other) => other.id === id);
    drafts.splice(index < 0 ? drafts.length : index, index < 0 ? 0 : 1, draft);
    return draft;
  };

  const remove = (id) => {
    const index = drafts.findIndex((draft) => draft.id === id);
    if (index >= 0) drafts.splice(index, 1);
    return { deleted: true };
  };

  const finish = ({ commentIds, summary = null, heads = {} }, loopId = null) => {
    const comments = commentIds.map((id, index) => {
      const comment = { ...drafts.find((draft) => draft.id === id), number: index + 1 };
      delete comment.createdAt;
      return comment;
    });
    commentIds.forEach(remove);
    reviews.unshift({
      id: crypto.randomUUID(),
      kind: loopId ? "request_changes" : "comment",
      summary,
      user: me.user ?? { id: me.id, firstName: "Ada", lastName: "Okafor", email: me.email },
      loopId,
      heads,
      createdAt: now(),
      comments,
    });
    return view();
  };

  return { view, store, remove, finish };
}
