C     AN INTEGRATOR IN THE STYLE OF ODEPACK: ITS STATE IS ONE COMMON BLOCK OF
C     NUMBERS, ARRAYS OF COEFFICIENTS AMONG THEM, WITH COUNTS BEHIND, WHICH ARE
C     COPIED TO THE CALLER'S IWORK. SOURCE: HINDMARSH, "ODEPACK, A SYSTEMATIZED
C     COLLECTION OF ODE SOLVERS" (1983), FOR THE LAYOUT.
      SUBROUTINE RATES(NEQ, T, Y, D)
      INTEGER NEQ(*)
      DOUBLE PRECISION T, Y(*), D(*), P(4)
      COMMON /PARS/ P
      D(1) = Y(2)
      D(2) = -P(1)*SIN(Y(1)) - P(2)*Y(2) + P(3)*COS(T)
      END

C     ADAMS-BASHFORTH OF ORDERS ONE TO THREE.
      SUBROUTINE COEFFS(ELCO)
      DOUBLE PRECISION ELCO(3, 3)
      ELCO = 0D0
      ELCO(1, 1) = 1D0
      ELCO(1, 2) = 1.5D0
      ELCO(2, 2) = -0.5D0
      ELCO(1, 3) = 23D0/12D0
      ELCO(2, 3) = -16D0/12D0
      ELCO(3, 3) = 5D0/12D0
      END

      SUBROUTINE STEP(F, NEQ, Y, YH, NYH)
      INTEGER NEQ(*), NYH, I, J
      DOUBLE PRECISION Y(*), YH(NYH, *), EL, ELCO, H, TN, RC
      EXTERNAL F
      INTEGER NST, NFE, NQ, L, N, NYHC
      COMMON /STATE/ RC, EL(3), ELCO(3, 3), H, TN,
     1  NST, NFE, NQ, L, N, NYHC
      DO J = 3, 2, -1
        DO I = 1, N
          YH(I, J) = YH(I, J - 1)
        END DO
      END DO
      CALL F(NEQ, TN, Y, YH)
      NFE = NFE + 1
      DO I = 1, L
        EL(I) = ELCO(I, NQ)*RC
      END DO
      DO J = 1, L
        DO I = 1, N
          Y(I) = Y(I) + H*EL(J)*YH(I, J)
        END DO
      END DO
      TN = TN + H
      IF (NQ .LT. 3) NQ = NQ + 1
      L = NQ
      END

      SUBROUTINE SOLVE(F, NEQ, Y, T, TOUT, RWORK, IWORK)
      INTEGER NEQ(*), IWORK(*)
      DOUBLE PRECISION Y(*), T, TOUT, RWORK(*), EL, ELCO, H, TN, RC
      EXTERNAL F
      INTEGER NST, NFE, NQ, L, N, NYH
      COMMON /STATE/ RC, EL(3), ELCO(3, 3), H, TN,
     1  NST, NFE, NQ, L, N, NYH
      IF (NEQ(1) .LE. 0) RETURN
      N = NEQ(1)
      NYH = N
      H = (TOUT - T)/40D0
      TN = T
      RC = 1D0
      NST = 0
      NFE = 0
      NQ = 1
      L = 1
      CALL COEFFS(ELCO)
   10 CALL STEP(F, NEQ, Y, RWORK(21), NYH)
      NST = NST + 1
      IF (TN .LT. TOUT - 0.5D0*H) GOTO 10
      T = TN
      RWORK(11) = H
      IWORK(11) = NST
      IWORK(12) = NFE
      IWORK(14) = NQ
      END

      DOUBLE PRECISION FUNCTION SWING(N, X)
      INTEGER N, I, NEQ(1), IWORK(20)
      DOUBLE PRECISION X(N), P(4), Y(2), T, RWORK(40)
      COMMON /PARS/ P
      EXTERNAL RATES
      DO I = 1, 4
        P(I) = X(I)
      END DO
      NEQ(1) = 2
      Y(1) = X(4)
      Y(2) = 0D0
      T = 0D0
      IWORK = 0
      RWORK = 0D0
      CALL SOLVE(RATES, NEQ, Y, T, 2D0 + 0.1D0*X(3), RWORK, IWORK)
      SWING = Y(1) + 2D0*Y(2) + IWORK(11)
      END

      PROGRAM MAIN
      USE CHECK
      USE ENZYME
      INTEGER, PARAMETER :: M = 4
      DOUBLE PRECISION X(M), G(M), SWING
      EXTERNAL SWING
      CALL FILL(X)
      G = 0D0
      CALL ENZYME_GRAD(SWING, M, X, G)
      CALL CHECK_GRADIENT('common_counts', SWING, M, X, G)
      END
