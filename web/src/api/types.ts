/** Short names of the generated API types. */
import type { components, paths } from "./control-plane.gen";
import type { components as gatewayComponents } from "./gateway.gen";

type Schemas = components["schemas"];
type GatewaySchemas = gatewayComponents["schemas"];

export type Loop = Schemas["LoopRecord"];
export type LoopPage = Schemas["LoopPage"];
export type LoopDetail = Schemas["LoopDetail"];
export type LoopStatus = Schemas["LoopStatus"];
export type LoopCommand = Schemas["LoopCommand"];
export type LoopError = Schemas["LoopError"];
export type LoopEvent = Schemas["StoredEvent"];
export type EventRange = Schemas["EventRange"];
export type EventSubject = NonNullable<
  NonNullable<paths["/loops/{id}/events"]["get"]["parameters"]["query"]>["about"]
>;
export type ToolStart = Schemas["ToolStart"];
export type ToolEnd = Schemas["ToolEnd"];
export type Turn = Schemas["Turn"];
export type AssistantRun = Schemas["Run"];
export type Progress = Schemas["ProgressEvent"];
export type EarlyPush = Schemas["EarlyPush"];
export type HeldBackFile = Schemas["HeldBackFile"];
export type ResultEntry = Schemas["ResultEntry"];
export type TestEvidence = Schemas["TestEvidence"];
export type TestFlag = Schemas["TestFlag"];
export type TestRun = Schemas["TestRun"];
export type RepoRef = Schemas["RepoRef"];
export type Document = Schemas["DocumentDetail"];
export type DocumentLink = Schemas["LoopDocument"];
export type DocumentVersion = Schemas["DocumentVersionRecord"];
export type ChangeRequest = Schemas["ChangeRequestRecord"];
export type ChangeRequestDetail = Schemas["ChangeRequestDetail"];
export type ChangeRequestPage = Schemas["ChangeRequestPage"];
export type ChangeState = Schemas["ChangeState"];
export type ChangeStage = Schemas["ChangeStage"];
export type Attention = Schemas["Attention"];
export type ComputeTarget = Schemas["ComputeTarget"];
export type Me = Schemas["Me"];
export type Agent = Schemas["Data_AgentDetail"]["data"];
export type UndeliveredWork = Schemas["UndeliveredWork"];
export type Usage = Schemas["Usage"];
export type Member = Schemas["Member"];
export type Role = Schemas["Role"];
export type ApiKeyScope = Schemas["Scope"];
export type ApiKey = Schemas["ApiKeyRecord"];
export type AuditAction = Schemas["AuditAction"];
export type AuditEntry = Schemas["AuditEntry"];
export type OrganizationSettings = Schemas["OrganizationSettings"];
export type RunLoopBody = Schemas["RunLoop"];
export type LaunchPreview = Schemas["LaunchPreview"];
export type SignedLaunch = Schemas["SignedLaunch"];
/** Check of a machine as a desktop has stored it: `debug` is a text. */
export type StoredCheck = Schemas["HealthCheckEntry"];

export type GatewayHealth = GatewaySchemas["Health"];
export type GatewaySession = GatewaySchemas["ExchangeAnswer"];
export type GatewayRepos = GatewaySchemas["ReposAnswer"];
export type GatewayCheck = GatewaySchemas["Check"];
export type GatewayCheckReport = GatewaySchemas["HealthReport"];
export type GatewayBranches = GatewaySchemas["BranchesAnswer"];
export type ListedRepo = GatewaySchemas["ListedRepo"];
export type WaitingRequest = GatewaySchemas["WaitingRequest"];
export type PendingApprovals = GatewaySchemas["PendingApprovals"];
export type LoopChanges = GatewaySchemas["LoopChanges"];
export type RepositoryChanges = GatewaySchemas["RepositoryChanges"];
export type ChangedFile = GatewaySchemas["ListedFile"];
export type PatchesRequest = GatewaySchemas["PatchesRequest"];
export type PullRequestComment = GatewaySchemas["CommentOnLine"];
export type LoopPatches = GatewaySchemas["LoopPatches"];
