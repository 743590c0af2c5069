-- One row: how many judged mentions and responses the judges differ on, where no adjudicator decided; and of how many
-- mentions the link has changed since.
SELECT
    (SELECT count(*) FROM audited_mentions WHERE disputed) + (SELECT count(*) FROM audit_whole WHERE fewest < most)
        AS disputed,
    (SELECT count(*) FROM audited_mentions WHERE relinked) AS relinked
