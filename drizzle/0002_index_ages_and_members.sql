DROP INDEX "activity_of_day";--> statement-breakpoint
CREATE INDEX "billing_events_by_age" ON "billing_events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "oauth_states_by_age" ON "oauth_states" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "activity_of_day" ON "activity" USING btree ("workspace_id","day","user_id","repo_key");