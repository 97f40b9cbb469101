"""What the page on seed 000, figures 4.1 to 4.25, says in words; the numbers beside them are the script's."""

HEAD = """\
The seed trains a model on N records, adds N others from the same law, lets an attack say who was trained on,
and plots its accuracy against ε. Here are the same questions with sound noise: DP-SGD (Poisson rate 0.1, 100
steps, numeric accounting; for three classes noisy gradient descent on all rows, because DP-SGD here has one
output) and DP-FW (T* steps, at most 400 for N = 10,000, exponential mechanism in zCDP), both with (ε, 1e-6)
for a record that is blanked out. A non-member is a member replaced by somebody else, so the promise counts
twice in front of the attacker: the red line is the accuracy that (2ε, (1 + e^ε) 1e-6) leaves to *any* attack,
for all it knows about the others.

Every number is a mean over independently drawn data sets and independently trained models (20, or 10 for N =
10,000 and p = 10,000), with a 95 % interval over these models: records judged by one model depend on each
other, so counting them says nothing about the training (soundness, section 14). The seed shows averages over
ten runs and their highest and lowest value. Algorithm 5 is used with its pool of 2N records of which the N
lowest losses are called members (N/2 is printed)."""

LASSO_WORDS = """\
The seed reads its figures so: the averages are "usually slightly less than 50 %. This proves and measures the
protection of DP", and the attack levels out around ε = 1 in a "log-trend". With intervals little of this is
left. The attack on the model *without* privacy is a coin toss too, to within half a point: least squares with
eleven weights and a thousand records does not overfit enough for a loss to show it, and with ten thousand
even less. There is nothing to protect from *this attack*, so a private model cannot do better, and an
accuracy below one half is noise, not protection. That small ε gives "unreliable" results is the model, not
the attack: at ε ≤ 0.2 and N = 1,000 it explains nothing. What a private model gains is the red line, which
holds against attacks that nobody has tried; what it pays is in the second table."""

LOGISTIC_WORDS = """\
The seed finds that private learning "gets less effective, until it completely fails for 60 % overlapping",
with curves that become more log-like as classes overlap. Overlap changes how well the classes can be told
apart (second table), not what the attack finds: a line through two-dimensional data has three numbers and
cannot remember three hundred people. Differences between DP-FW and DP-SGD as privacy ("FW guarantees more
privacy") are differences between noise: both carry the same promise, and the attack sees neither."""

THRESHOLD_WORDS = """\
The seed's τ is the mean of the mean entropies of members and of non-members, as it says itself "nullifying
all efforts": whoever computes it knows the answer already. An honest attacker takes τ from a shadow model
that was trained in the same way on other data, or calls the lower half members. All three are coins here. The
seed's τ = max H calls everybody a member and is right in exactly half of the cases, whatever the model; that
is arithmetic and needs no figure."""

DIMENSION_WORDS = """\
Here, and only here, there is something to see, because here a model can remember. "Easy" is the seed's law
with its 20 % on each of 10,000 axes: the classes lie far apart, and still the model without privacy leans a
little towards its own people. "Hard" has boxes that share 20 % of their volume, which on each axis is nearly
everything: there is no class to learn, a model of 10,001 weights learns 300 people by heart, and the attack
recognises practically every one of them. With a promise of ε = 1 it is back at a coin toss for both learners.
At ε = 5 some of it returns in the easy case; the promise allows almost everything there, so that little
returns is a property of this attack, not of the promise."""

MULTINOMIAL_WORDS = """\
("DP-SGD" is noisy descent on all rows here.) The seed reports "a very high accuracy" of the attack without
privacy when classes lie apart, that differential privacy lowers to 50 or 55 %, and that it drops by ten
points where classes overlap. With members and others from one law the attack on nine numbers fitted to 300
people is a coin toss in every panel. An accuracy far above one half for a model this small means that the two
groups differed before anything was trained, which is the first thing to rule out: members and non-members may
simply differ."""

DELTA_WORDS = """\
The seed fixes δ = exp(-ε³N) "in all experiments", because that satisfies log(1/δ) ≥ ε²T for T = Nε. It
decides what its figures show, twice. **At small ε it is no promise:** for N = 300 and ε = 0.1 it is 0.74,
which allows publishing the data outright three times in four, and an attack that is right in 88 % of all
cases. That is the part of the axis on which the seed finds its results "meaningless". **At larger ε the noise
grows:** λ = 16 L C sqrt(2 T log(1/δ))/(Nε) with T = Nε becomes 16 sqrt(2) L C ε = 22.6 L C ε, whatever N:
*more* ε means *more* noise in every choice. Curves that level out at ε around 1 say nothing about privacy
there. With a fixed δ well below 1/N the noise falls with ε, as it should (last column; the constant 16 itself
is nine times what is needed: soundness, section 8)."""
